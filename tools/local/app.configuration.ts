import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { LocalProblem } from './local.problem.js';

/** Configuration is what the class of an app's configuration offers here. */
interface Configuration {
  read(env: NodeJS.ProcessEnv): unknown;
}

const APPS = resolve(__dirname, '../../apps');
/** As the apps themselves: they are run from their files, not imported. */
const load = createRequire(__filename);

/** checkAppConfiguration throws a LocalProblem with all that the apps would refuse in the environment, before anything is started. */
export function checkAppConfiguration(): void {
  // Database and ports are the start's to give.
  const env = { ...process.env, DATABASE_URL: 'postgres://127.0.0.1/holdfast', PORT: '0' };
  const problems = new Set(
    [
      ['api/src/configuration/api.configuration.ts', 'ApiConfiguration'] as const,
      ['worker/src/configuration/worker.configuration.ts', 'WorkerConfiguration'] as const,
    ].flatMap(([file, name]) => {
      const { [name]: configuration } = load(join(APPS, file)) as Record<typeof name, Configuration>;
      return problemsOf(configuration, env);
    }),
  );
  if (problems.size > 0) throw new LocalProblem(`The configuration has problems: ${[...problems].join('; ')}.`);
}

function problemsOf(configuration: Configuration, env: NodeJS.ProcessEnv): readonly string[] {
  try {
    configuration.read(env);
    return [];
  } catch (error) {
    const { problems } = error as { problems?: readonly string[] };
    if (problems) return problems;
    throw error;
  }
}
