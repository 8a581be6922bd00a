import { expect, test } from 'vitest'
import { LateBound } from './late-bound.js'

test('a part is reached once it is bound, and named when it is used earlier', () => {
  const machines = new LateBound<string[]>('machines')
  expect(() => machines.get()).toThrow('a part is missing: machines, which is opened later')
  const opened = machines.bind(['machine-1'])
  expect(machines.get()).toBe(opened)
})
