/** A body that is JSON text already, so that cached text is not rendered again. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
