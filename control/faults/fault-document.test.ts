import { expect, test } from 'vitest'
import { readFaults } from './fault-document.js'

test.each([
  [{ kind: 'delay', ms: 5 }, 'effect.for is missing'],
  [{ kind: 'delay', for: '5s', by: 1 }, 'there is no effect.by; it is one of kind, for'],
  [{ kind: 'agent-restart', at: 5 }, 'there is no effect.at; it is one of kind'],
  [{ kind: 'delai' }, 'effect.kind is "delai"; did you mean delay?'],
])('%j is wrong in what its own kind has', (effect, problem) => {
  expect(() => readFaults({ match: { machine: 'a' }, effect }, 'faults.yaml')).toThrow(
    `faults.yaml is wrong: ${problem}`,
  )
})
