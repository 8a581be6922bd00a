import { packageFile } from '../runtime/index.js'

/** The rehearsal image that comes with ironstage: a CoreOS-layout metal image of a few KiB. */
export const REHEARSAL_IMAGE = packageFile('images/coreos-metal.raw.xz')

/** A live ISO in CoreOS's layout, which only simulated machines boot. */
export const REHEARSAL_LIVE_ISO = packageFile('images/coreos-live.iso')

/** An Ignition config with a user, a file and a unit, for who has none at hand. */
export const EXAMPLE_IGNITION = packageFile('images/example.ign')
