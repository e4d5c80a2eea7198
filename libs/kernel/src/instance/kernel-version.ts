/** KERNEL_VERSION is the version of this package. It stands here because a bundle carries no package.json; a test holds the two equal. */
export const KERNEL_VERSION = '0.1.0';
