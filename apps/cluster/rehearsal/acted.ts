/** Result of a step: `failure` ends the story. */
export interface Acted {
  failure?: string
}
