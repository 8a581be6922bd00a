import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../base/runtime/index.js'
import { defaultMachineSpec } from './hardware/default-spec.js'
import { MACHINE_DATABASE, openMachineStore } from './machine-store.js'

test('a full disk is an error in a sentence, and the changes are written once there is room', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-machines-'))
  const file = join(folder, 'machines.db')
  const clock = systemClock()
  const put = (store: ReturnType<typeof openMachineStore>, n: number, filler = '') =>
    store.put(`machine-${n}`, 'spec', '', () => ({ ...defaultMachineSpec(n), filler }))
  const store = openMachineStore(file, clock, { most: 10 })
  put(store, 1)
  await store.flush()
  let filler = 'x'.repeat(100_000)
  store.put('machine-2', 'spec', '', () => ({ ...defaultMachineSpec(2), filler }))
  await expect(store.flush()).rejects.toMatchObject({
    code: 'state-full',
    message: `the disk of ${file} is full: what the machines did last is not kept`,
  })
  put(store, 3)
  await expect(store.flush()).rejects.toMatchObject({ code: 'state-full' })
  // Lifts the limit on the pages of the file.
  filler = ''
  await store.flush()
  expect(store.load().map(({ machine }) => machine)).toEqual(['machine-1', 'machine-2', 'machine-3'])
  put(store, 4, 'x'.repeat(100_000))
  await expect(store[Symbol.asyncDispose]()).rejects.toMatchObject({ code: 'state-full' })
  await using again = openMachineStore(file, clock)
  expect(again.load().map(({ machine }) => machine)).toEqual(['machine-1', 'machine-2', 'machine-3'])
  await rm(folder, { recursive: true })
})

test.each([null, '/images/metal.raw.xz'])(
  'a folder from before has its metal image under its new name: %s',
  async (image) => {
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-machines-'))
    const file = join(folder, 'machines.db')
    const { metalImage: _, ...spec } = defaultMachineSpec(1)
    const before = { ...spec, liveImage: image }
    const text = JSON.stringify(before)
    expect(MACHINE_DATABASE.tables[0]!.problem!({ kind: 'spec', value: text })).toBeUndefined()
    {
      await using store = openMachineStore(file, systemClock())
      store.put('machine-1', 'spec', '', () => before)
    }
    await using store = openMachineStore(file, systemClock())
    expect(store.load().map(({ value }) => value)).toEqual([{ ...spec, metalImage: image }])
    await rm(folder, { recursive: true })
  },
)
