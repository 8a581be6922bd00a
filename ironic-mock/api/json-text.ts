/** A body that is JSON already, so that what was rendered before is not rendered again. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
