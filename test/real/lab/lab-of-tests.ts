import { afterAll, beforeAll } from 'vitest'
import { LabOfHosts } from './lab-of-hosts.js'

/**
 * A lab for the tests of a file. A set-up that a time limit has cut goes on by itself: it is ended here, and waited for,
 * since loop devices outlive every process.
 */
export function labOfTests(): () => LabOfHosts {
  const cut = new AbortController()
  let opening: Promise<LabOfHosts> | undefined
  let lab: LabOfHosts | undefined
  beforeAll(async () => {
    opening = LabOfHosts.open(cut.signal)
    lab = await opening
  })
  afterAll(async () => {
    cut.abort(new Error('the tests are over'))
    await (await opening?.catch(() => undefined))?.[Symbol.asyncDispose]()
  })
  return () => lab!
}
