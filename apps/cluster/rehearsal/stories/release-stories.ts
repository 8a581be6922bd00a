import type { ScenarioRelease } from '../scenario.js'

/** Two releases of OpenShift whose disk images have the cluster's programs, as they were before document 003. */
export const A = { version: '4.14.0', coreos: '414.92.202310170514-0' } satisfies ScenarioRelease
export const B = { version: '4.15.0', coreos: '415.92.202402201450-0' } satisfies ScenarioRelease
/** A release from before CoreOS was the deploy image: machine sets install the QCOW2 image. */
export const BEFORE = {
  version: '4.9.0',
  coreos: '49.84.202110081407-0',
  installs: 'qcow2',
  deployImage: 'old-ramdisk',
} satisfies ScenarioRelease
/** Two releases that share a base image, of document 003. */
const BASE_IMAGE = '9.6.20250826.1'
export const NODE_A = { version: '4.19.0', coreos: '9.6.20250902.0', base: BASE_IMAGE } satisfies ScenarioRelease
export const NODE_B = { version: '4.20.0', coreos: '9.6.20251015.1', base: BASE_IMAGE } satisfies ScenarioRelease
/** The first release after {@link BEFORE}, which has the live ISO. */
export const BEFORE_NEXT = { ...A, version: '4.10.0', coreos: '410.84.202203141348-0' } satisfies ScenarioRelease
/** Releases of today, with a base image each: the last one enforces the age of boot images. */
export const NOW = { version: '4.21.0', coreos: '9.6.20260210.0', base: '9.6.20260112.0' } satisfies ScenarioRelease
export const NEXT = { version: '4.22.0', coreos: '9.6.20260701.0', base: '9.6.20260615.0' } satisfies ScenarioRelease
/** The same, with the cluster's programs in their disk images. */
export const FAR = { version: '4.22.0', coreos: '9.6.20260701.0' } satisfies ScenarioRelease
export const FAR_NEXT = { version: '4.23.0', coreos: '9.8.20261101.0' } satisfies ScenarioRelease
/** The last release before the streams, and the first with them. */
export const BEFORE_STREAMS = { version: '4.22.0', coreos: '9.8.20260521-0' } satisfies ScenarioRelease
export const TWO_STREAMS = {
  version: '5.0.0',
  coreos: '9.8.20260820-0',
  streams: { 'rhel-10': '10.2.20260820-0' },
} satisfies ScenarioRelease
