import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newHostState, RunFolder } from './run-state.js'

test('of several writes of a host at a time the last one stays, and none fails', async () => {
  const path = await mkdtemp(join(tmpdir(), 'ironstage-run-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const folder = await RunFolder.open(path)
  const state = newHostState('node-1')
  const writes = Array.from({ length: 50 }, (_, index) =>
    folder.save({ ...state, stages: {}, steps: { ...state.steps, done: index } }),
  )
  await Promise.all(writes)
  expect((await folder.host('node-1'))?.steps.done).toBe(49)
  expect(await readdir(join(path, 'hosts'))).toEqual(['node-1.json'])
})
