export interface Relay extends AsyncDisposable {
  /** Of the end that it listens on, where that is one. */
  readonly port: number
}
export function relay(from: string, to: string): Promise<Relay>
