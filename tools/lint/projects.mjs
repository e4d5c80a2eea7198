/**
 * The first import table: which project may import which (docs/design/architecture.md). The tags stand in each package.json.
 * `scope:testing` is for specs, bench and tools alone.
 */
const shipped = [
  {
    sourceTag: 'scope:app',
    onlyDependOnLibsWithTags: ['scope:contracts', 'scope:hub', 'scope:kernel', 'scope:migrations', 'scope:queue'],
  },
  { sourceTag: 'scope:hub', onlyDependOnLibsWithTags: ['scope:contracts', 'scope:kernel', 'scope:queue'] },
  { sourceTag: 'scope:queue', onlyDependOnLibsWithTags: ['scope:kernel', 'scope:migrations'] },
  { sourceTag: 'scope:contracts', onlyDependOnLibsWithTags: ['scope:queue'] },
  { sourceTag: 'scope:kernel', onlyDependOnLibsWithTags: [] },
  { sourceTag: 'scope:migrations', onlyDependOnLibsWithTags: ['scope:kernel'] },
  { sourceTag: 'scope:testing', onlyDependOnLibsWithTags: ['scope:kernel', 'scope:migrations'] },
];

const everyLib = ['scope:contracts', 'scope:hub', 'scope:kernel', 'scope:migrations', 'scope:queue', 'scope:testing'];
const development = [
  { sourceTag: 'scope:bench', onlyDependOnLibsWithTags: everyLib },
  { sourceTag: 'scope:tools', onlyDependOnLibsWithTags: everyLib },
];

/** The specs of what the testbed is built on use the testbed too: a circle of projects and not of files. The tables forbid the real ones. */
const circlesThroughSpecs = [
  ['@holdfast/kernel', '@holdfast/migrations'],
  ['@holdfast/kernel', '@holdfast/testing'],
  ['@holdfast/migrations', '@holdfast/testing'],
];

const options = {
  allow: [],
  allowCircularSelfDependency: true,
  enforceBuildableLibDependency: false,
  ignoredCircularDependencies: circlesThroughSpecs,
};

/** What ships, and the development projects. */
export const projectConstraints = { ...options, depConstraints: [...shipped, ...development] };

/** Specs may use the testbed as well, the definitions of another lib's events not. */
export const specConstraints = {
  ...options,
  depConstraints: [
    ...shipped.map((constraint) => ({
      ...constraint,
      onlyDependOnLibsWithTags: [
        ...constraint.onlyDependOnLibsWithTags,
        'scope:testing',
        'scope:migrations',
        'scope:kernel',
        constraint.sourceTag,
      ],
    })),
    ...development,
  ],
};
