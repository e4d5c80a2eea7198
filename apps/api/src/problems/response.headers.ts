/** ResponseHeaders is what is needed of a response, whatever the HTTP library. */
export interface ResponseHeaders {
  setHeader(name: string, value: string): unknown;
}
