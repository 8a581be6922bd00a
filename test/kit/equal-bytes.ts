import { expect } from 'vitest'

// Compares buffers as such: vitest goes through them byte by byte, which takes seconds for an image. Buffers that
// differ are left to vitest, which says where.

const KNOWN = Symbol.for('ironstage: buffers are compared as such')
const known = globalThis as { [KNOWN]?: true }

// Files share a worker's matchers, and this runs before each of them.
if (!known[KNOWN]) {
  expect.addEqualityTesters([
    (a: unknown, b: unknown) =>
      a instanceof Uint8Array &&
      b instanceof Uint8Array &&
      Object.getPrototypeOf(a) === Object.getPrototypeOf(b) &&
      Buffer.compare(a, b) === 0
        ? true
        : undefined,
  ])
  known[KNOWN] = true
}
