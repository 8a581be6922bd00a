import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runOurs } from '../../test/kit/first-boot-run.js'
import { configs } from '../../test/real/programs/first-boot/configs.js'
import { baseRoot } from './base-root.js'
import { changesBetween, recordsOf, treeOf, withChanges } from './root-records.js'
import { newFile, newLink } from './root-tree.js'

const base = recordsOf(baseRoot('fcos'))

test('the stored changes of a root filesystem give the same one again', async () => {
  await fc.assert(
    fc.asyncProperty(configs, async (config) => {
      const { tree: records } = await runOurs(JSON.stringify(config))
      const tree = treeOf(records)
      const stored = JSON.parse(JSON.stringify(changesBetween(base, tree))) as ReturnType<typeof changesBetween>
      expect(recordsOf(withChanges(base, stored))).toEqual(records)
    }),
    { numRuns: 60, seed: 5 },
  )
})

test('an unchanged system stores nothing', () => {
  expect(changesBetween(base, baseRoot('fcos'))).toEqual([])
})

test('a file with two names stays one file', () => {
  const tree = baseRoot('fcos')
  const file = newFile(Buffer.from('one'))
  tree.put('/etc/z', file)
  tree.put('/etc/a', file)
  const again = withChanges(base, changesBetween(base, tree))
  expect(again.lstat('/etc/a')).toBe(again.lstat('/etc/z'))
})

test.each([
  ['/home/x', '/var/home/x'],
  ['/bin/sh', '/usr/bin/bash'],
  ['/etc/../home/../home/x', '/var/home/x'],
])('%s leads to %s', (path, real) => {
  const tree = baseRoot('fcos')
  tree.put('/var/home/x', newFile(Buffer.from('x')))
  expect(tree.stat(path)).toBe(tree.stat(real))
  expect(tree.exists(real)).toBe(true)
})

test('links that point to each other are an error instead of a loop', () => {
  const tree = baseRoot('fcos')
  tree.put('/etc/a', newLink('b'))
  tree.put('/etc/b', newLink('/etc/a'))
  expect(() => tree.stat('/etc/a')).toThrow('ELOOP')
  expect(() => tree.lstat('/etc/a/x')).toThrow('ELOOP')
})
