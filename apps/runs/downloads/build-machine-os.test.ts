import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silent, systemClock } from '../../../base/runtime/index.js'
import { fileServer } from '../../../test/kit/images/image-files.js'
import { published } from '../../../test/kit/published.js'
import { buildMachineOs } from './build-machine-os.js'

test('a download that fails leaves the ISO of an earlier build, with its digest', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-machine-os-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await using server = await fileServer({})
  const { stream } = published({ 'live-iso': { bytes: Buffer.from('a live system') } }, { baseUrl: server.url('') })
  await writeFile(join(folder, 'coreos-x86_64.iso'), 'an earlier one')
  await writeFile(join(folder, 'coreos-x86_64.iso.sha256'), 'its digest')
  const building = buildMachineOs({
    stream,
    version: '9',
    architectures: ['x86_64'],
    folder,
    cache: { folder: join(folder, 'cache'), attempts: 1 },
    clock: Object.assign(systemClock(), { sleep: () => Promise.resolve() }),
    logger: silent,
    signal: new AbortController().signal,
  })
  await expect(building).rejects.toThrow()
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['coreos-x86_64.iso', 'coreos-x86_64.iso.sha256']))
})
