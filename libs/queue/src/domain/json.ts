/** JsonValue is what JSON can say as it stands. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** JsonObject is a JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}
