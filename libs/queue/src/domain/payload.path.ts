const PLAIN_KEY = /^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/;
const MAX_PATH_LENGTH = 300;

/** payloadPath writes where in a payload something is: `payload.items[3].name`; keys that are no names are quoted, a long path is cut. */
export function payloadPath(segments: Iterable<PropertyKey>): string {
  let path = 'payload';
  for (const segment of segments) {
    if (typeof segment === 'number') path += `[${segment}]`;
    else if (typeof segment === 'symbol') path += `[${String(segment)}]`;
    else path += PLAIN_KEY.test(segment) ? `.${segment}` : `[${JSON.stringify(segment.slice(0, MAX_PATH_LENGTH))}]`;
    if (path.length > MAX_PATH_LENGTH) return `${path.slice(0, MAX_PATH_LENGTH)}…`;
  }
  return path;
}
