import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { IGNITION_FILE, openLiveIso } from '../../coreos/index.js'
import { openFileSource } from '../../base/bytes/index.js'
import { validateIgnition } from '../../ignition/index.js'
import { isoImage, liveFiles } from '../kit/images/live-iso.js'
import { realBinary } from '../real/coreos-installer.js'
import { realIgnition } from '../real/programs/ignition/peer.js'
import { clock, median, timed, type Measured } from './measure.js'

/** Measures the validation of a config and its embedding into a live ISO. */
export async function ignitionConfigs(): Promise<Measured[]> {
  return [await validated(), await embedded()]
}

/** A config of 100 KB, of 400 files, judged as Ignition judges it. */
async function validated(): Promise<Measured> {
  const files = Array.from({ length: 400 }, (_, i) => ({
    path: `/etc/app/${i}.conf`,
    mode: 0o644,
    contents: { source: `data:;base64,${Buffer.from(`setting ${i} `.repeat(11)).toString('base64')}` },
  }))
  const text = Buffer.from(JSON.stringify({ ignition: { version: '3.4.0' }, storage: { files } }))
  const runs = 100
  const ours = await median(runs, () => timed(async () => void validateIgnition(text)))
  const ask = await realIgnition()
  const asked = (count: number) => timed(() => ask(Array.from({ length: count }, () => [text])))
  await asked(1)
  // Its start is not counted; that it also prints the config is.
  const one = await asked(1)
  const all = await asked(runs + 1)
  return {
    what: 'an Ignition config of 100 KB validated',
    ours,
    peer: { name: "Ignition's own code", value: (all - one) / runs },
    reach: 10,
    unit: 'ms',
    runs,
  }
}

/** A config put into an ISO in place, without the time that writing as much to the same file takes. */
async function embedded(): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-bench-'))
  try {
    const pristine = join(folder, 'pristine.iso')
    const iso = join(folder, 'x.iso')
    const config = join(folder, 'a.ign')
    await writeFile(pristine, isoImage(liveFiles()))
    const bytes = Buffer.from(JSON.stringify({ ignition: { version: '3.4.0' }, note: 'x'.repeat(20_000) }))
    await writeFile(config, bytes)
    const runs = 20
    let area = 0
    const ours = await median(runs, async () => {
      await copyFile(pristine, iso)
      return timed(async () => {
        await using image = await openFileSource(iso, clock, true)
        const patch = await (await openLiveIso(image, clock)).embed(new Map([[IGNITION_FILE, bytes]]))
        area = patch.bytes.length
        await image.replace([patch])
      })
    })
    const input = await median(runs, () =>
      timed(async () => {
        await using file = await open(iso, 'r+')
        await file.write(Buffer.alloc(area), 0, area, 0)
        await file.datasync()
      }),
    )
    const real = await realBinary()
    const peer = await median(runs, async () => {
      await copyFile(pristine, iso)
      return timed(() => promisify(execFile)(real, ['iso', 'ignition', 'embed', '-i', config, iso]))
    })
    return {
      what: 'a config embedded in an ISO in place, beside its I/O',
      ours: Math.max(0, ours - input),
      peer: { name: 'coreos-installer, a process', value: peer },
      reach: 20,
      unit: 'ms',
      runs,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
