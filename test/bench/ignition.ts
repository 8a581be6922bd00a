import { validateIgnition } from '../../ignition/index.js'
import { median, timed, type Measured } from './measure.js'

/** A config of 100 KB, of 400 files, judged as Ignition judges it. */
export async function ignitionConfigs(): Promise<Measured> {
  const files = Array.from({ length: 400 }, (_, i) => ({
    path: `/etc/app/${i}.conf`,
    mode: 0o644,
    contents: { source: `data:;base64,${Buffer.from(`setting ${i} `.repeat(11)).toString('base64')}` },
  }))
  const text = Buffer.from(JSON.stringify({ ignition: { version: '3.4.0' }, storage: { files } }))
  const runs = 100
  const ours = await median(runs, () => timed(async () => void validateIgnition(text)))
  return {
    what: `an Ignition config of ${Math.round(text.length / 1000)} KB validated`,
    ours,
    peer: null,
    reach: 10,
    unit: 'ms',
    runs,
  }
}
