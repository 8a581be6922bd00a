import { packageFile } from '../../base/runtime/index.js'

/** Rehearsal image of ironstage: a metal image in CoreOS's layout, of a few KiB. */
export const REHEARSAL_IMAGE = packageFile('images/coreos-metal.raw.xz')

/** A live ISO in CoreOS's layout, which only simulated machines boot. */
export const REHEARSAL_LIVE_ISO = packageFile('images/coreos-live.iso')

/** Example of an Ignition config, with a user, a file and a unit. */
export const EXAMPLE_IGNITION = packageFile('images/example.ign')
