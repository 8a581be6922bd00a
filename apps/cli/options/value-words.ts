import type { ClusterEra } from '../../../base/kubernetes/index.js'
import type { OperatorName } from '../../cluster/index.js'
import type { BootImagePlatform, OsVersion } from '../../../coreos/index.js'
import type { JournalKind } from '../../../control/index.js'
import type { TargetCapability } from '../../../targets/index.js'
import type { IronicRelease } from '../../../base/wire/index.js'
import type { NEWEST_STABLE, SpecVersion } from '../../../ignition/index.js'
import type { MemberRole, ProfileName } from '../../../ironic-mock/index.js'

/** How far the nodes of `up --begin` go by themselves: the last verb that they are asked. */
export type BeginGoal = 'manage' | 'inspect' | 'provide' | 'deploy'

/** The members of a union, without the room that defines it; the compiler refuses a missing and an unknown one. */
const all = <T extends string>(members: Readonly<Record<T, true>>): readonly T[] => Object.keys(members) as T[]

/** Values of `--allow`. */
export const CAPABILITY_WORDS = all<TargetCapability>({
  power: true,
  reboot: true,
  'efi-variables': true,
  hostname: true,
  'software-raid': true,
  'burn-in': true,
  cleaning: true,
  'hand-over': true,
  unguarded: true,
})

/** Values of `--as`. */
export const ERA_WORDS = all<ClusterEra>({ today: true, document: true })

/** The era that `--as` names, which its schema has checked. */
export const readEra = (text: string | undefined): ClusterEra | undefined => ERA_WORDS.find((era) => era === text)

/** Values of `--kind`. */
export const JOURNAL_KIND_WORDS = all<JournalKind>({
  exchange: true,
  command: true,
  state: true,
  step: true,
  bmc: true,
  power: true,
  boot: true,
  pull: true,
  fault: true,
  lab: true,
})

/** Values of `--profile`. */
export const PROFILE_WORDS = all<ProfileName>({ metal3: true, openshift: true, upstream: true })

/** Values of `--begin`. */
export const BEGIN_WORDS = all<BeginGoal>({ manage: true, inspect: true, provide: true, deploy: true })

/** Operators of ironstage that `up` runs. */
export type ActorName = 'bmo'

/** Operators of a cluster by their abbreviations. */
export const CLUSTER_OPERATORS = all<OperatorName>({
  bmo: true,
  cbo: true,
  cvo: true,
  icc: true,
  mao: true,
  mcd: true,
  mco: true,
})

/** Values of `--actors`, in place of which operators of a cluster may be named with commas. */
export const ACTOR_WORDS = ['bmo', 'none', 'all'] as const

/** Values of `--machines`. */
export const MACHINE_PLACES = ['here', 'elsewhere'] as const

/** Values of `--role`. */
export const ROLE_WORDS = all<MemberRole>({ all: true, api: true, conductor: true, machines: true })

/** Values of `--ironic-release`. */
export const RELEASE_WORDS = all<IronicRelease>({
  '2024.2': true,
  '2025.1': true,
  '2025.2': true,
  '2026.1': true,
  '37.0': true,
  '38.0': true,
  master: true,
})

/** Values of `--spec`. */
export const SPEC_WORDS = all<SpecVersion>({
  '3.0.0': true,
  '3.1.0': true,
  '3.2.0': true,
  '3.3.0': true,
  '3.4.0': true,
  '3.5.0': true,
  '3.6.0': true,
  '3.7.0-experimental': true,
})

/** The newest stable version of the Ignition spec. */
export const NEWEST_SPEC: typeof NEWEST_STABLE = '3.6.0'

/** Platforms of `boot-image generate`. */
export const PLATFORM_WORDS = all<BootImagePlatform>({
  metal: true,
  openstack: true,
  qemu: true,
  vmware: true,
  aws: true,
  'aws-snapshot': true,
  'baremetal-iso': true,
  'baremetal-pxe': true,
})

/** Values of `--coreos-version`. */
export const OS_VERSION_WORDS = all<OsVersion>({ '9': true, '10': true })
