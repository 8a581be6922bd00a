import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Probe, systemClock } from '../../base/runtime/index.js'
import { smallImage } from '../../test/kit/images/rehearsal-image.js'
import { withBootPlace, type BootPlace } from '../disk/boot-place.js'
import { openFileDisk } from '../disk/file-disk.js'
import { partitionsLabelled } from '../disk/disk-partitions.js'
import type { OsDeployment } from './deployments.js'
import { InstalledSystem } from './installed-system.js'
import { runNodeImage } from './later-boot.js'
import { bootedEntry } from './loader-entries.js'
import { NO_REGISTRY } from './machine-registry.js'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-test-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

const deployment = (version: string): OsDeployment => ({ checksum: 'c', version, image: null, files: [] })

test('an image that an earlier process pulled is not pulled again, and its boot entry is made once', async () => {
  const path = join(folder, 'disk')
  await writeFile(path, await smallImage())
  const clock = systemClock()
  const device = await openFileDisk({ path, name: 'sda', sectorSize: 512, clock })
  try {
    const [boot] = await partitionsLabelled(device, 'boot')
    const bootPlace: BootPlace = { partition: 3, offset: boot!.offset, folder: '' }
    const system = new InstalledSystem({ put: () => {}, note: () => {} })
    system.keepOs({
      booted: deployment('1.0'),
      staged: deployment('2.0'),
      rollback: null,
      layers: [],
      pivot: { image: 'x', attempts: 1, lastError: null, state: 'staged' },
    })
    const bootable = {
      device,
      bootPlace,
      title: '',
      kernelArguments: [],
      firstBoot: false,
      config: null,
      container: null,
      efiEntry: null,
    }
    const signal = new AbortController().signal
    const parts = { machine: 'm1', system, registry: NO_REGISTRY, clock, probe: new Probe(), signal }
    const look = () =>
      withBootPlace(device, bootPlace, clock, async (volume) => ({
        booted: await bootedEntry(volume),
        names: await volume.list('/loader/entries'),
        before: (await volume.read('/loader/entries/ostree-1-fedora-coreos.conf')).toString(),
      }))
    const { booted: first } = await look()
    for (let process = 0; process < 2; process++) {
      await runNodeImage(bootable, { ...parts, persist: () => Promise.resolve() })
      const { booted, names, before } = await look()
      expect(booted).toEqual({ title: 'CoreOS node 2.0 (ostree:0)', options: first!.options })
      expect(names).toEqual(['ostree-1-fedora-coreos.conf', 'ostree-2-fedora-coreos.conf'])
      expect(before).toContain(first!.title)
    }
  } finally {
    await device[Symbol.asyncDispose]()
  }
})
