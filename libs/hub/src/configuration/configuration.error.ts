/** ConfigurationError lists everything that is wrong with the environment, each variable by its name and never with its value. */
export class ConfigurationError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigurationError';
  }
}
