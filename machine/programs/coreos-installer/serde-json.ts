import { Failure } from './installer-error.js'

/** Parses JSON. Text that cannot begin JSON gets serde_json's message, other errors V8's. */
export function parseSerdeJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    if (text === '') throw new Failure('EOF while parsing a value at line 1 column 0')
    if (!/^\s*[[{"\d-]/.test(text)) throw new Failure('expected value at line 1 column 1')
    throw new Failure(error instanceof Error ? error.message : String(error))
  }
}
