import { describe, expect, test } from 'vitest'
import { runContained, ownerOfError, traceOwners } from './containment.js'

const ownerSeen = () => runContained('the work of a node', () => Promise.resolve(ownerOfError()?.name))

describe('the owner of an error', () => {
  test('is found while something traces owners, and costs nothing afterwards', async () => {
    const before = await ownerSeen()
    const first = traceOwners()
    const second = traceOwners()
    expect(await ownerSeen()).toBe('the work of a node')
    first[Symbol.dispose]()
    expect(await ownerSeen()).toBe('the work of a node')
    second[Symbol.dispose]()
    expect([before, await ownerSeen()]).toEqual([undefined, undefined])
  })

  test('fails its work, once', async () => {
    using _ = traceOwners()
    const ended: boolean[] = []
    const work = runContained('the work of a node', async () => {
      const owner = ownerOfError()!
      ended.push(owner.fail(new Error('thrown in a handler')), owner.fail(new Error('again')))
      await Promise.resolve()
    })
    await expect(work).rejects.toThrow('thrown in a handler')
    expect(ended).toEqual([true, false])
  })
})
