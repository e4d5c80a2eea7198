/** EVENT_ID is what an event's id may be: it travels in headers and in URLs, so it holds nothing that would have to be escaped there. */
export const EVENT_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/;

/** EVENT_TYPE is what an event's type may be: lower-case words, such as `pull_request` or `issues.opened`. */
export const EVENT_TYPE = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/;

/** REPOSITORY is what a repository's name may be: `owner/name`. */
export const REPOSITORY = /^[A-Za-z0-9._-]{1,100}\/[A-Za-z0-9._-]{1,100}$/;

/** NO_REPOSITORY stands for the repository of events that belong to none (an organization's, an app's). It can be no repository's name. */
export const NO_REPOSITORY = '(none)';
