import type { Mutant } from './mutant.js'

const ROLL_OUT = { test: 'test/scenarios/cluster/deploy-image-roll-out.test.ts' }
const HOSTS = { test: 'test/scenarios/cluster/hosts-in-the-deploy-image.test.ts' }
const OPERATOR = { file: 'apps/cluster/actors/cluster-baremetal-operator.ts' }
const WHOLE_UPGRADE =
  'hosts stay in their boot while Ironic is replaced, and boot the new image once they are registered again'

/** Rows that the operators of a cluster show. */
export const CLUSTER_MUTANTS: readonly Mutant[] = [
  {
    row: '000 "newly-installed clusters',
    does: 'lets a downgrade through',
    file: 'apps/cluster/actors/cluster-version-operator/upgrade-preconditions.ts',
    from: 'if (keepsFirst && isOlder(version, first.version))',
    to: 'if (keepsFirst && version === first.version)',
    test: 'apps/cluster/actors/cluster-version-operator/cluster-version-operator.test.ts',
    title: 'older than the first version, %s: the cluster stays where it is',
  },
  {
    row: '000 "the `image-customization-controller` is updated',
    does: 'restarts Ironic first',
    ...OPERATOR,
    ...ROLL_OUT,
    from: 'has(IMAGE_SERVICE_FIRST) ? [',
    to: 'has(IMAGE_SERVICE_FIRST) && false ? [',
    title: 'the image service is updated before Ironic, which starts with an empty database',
  },
  {
    row: '000 the same: a conductor that is started too early may wait',
    does: 'waits for no pod',
    ...OPERATOR,
    ...HOSTS,
    from: 'if (isRolledOut(current) || ',
    to: 'if (true || ',
    title: 'a release whose components were not mirrored waits with the old Ironic, and continues once they are there',
  },
  {
    row: '000 "future boots of the deploy image',
    does: 'keeps the live images of before',
    ...HOSTS,
    file: 'coreos/machine-os/copy-iso.ts',
    title: WHOLE_UPGRADE,
    from: '(await stampOf(stamp, clock)) === iso.sha256 && (',
    to: '(',
  },
  {
    row: '000 "everything will continue to work after downgrading again',
    does: 'gives releases of before no kernel',
    ...OPERATOR,
    test: 'test/scenarios/cluster/rehearse.test.ts',
    from: 'DEPLOY_KERNEL_URL: oldRamdisk.kernel',
    to: "DEPLOY_KERNEL_URL: ''",
    title: 'the deploy image of a release from before CoreOS is its kernel and ramdisk, after a rollback too',
  },
  {
    row: '000 "upgrade my cluster',
    does: 'pulls past the mirrors',
    ...HOSTS,
    file: 'apps/cluster/site/container-registry.ts',
    title: WHOLE_UPGRADE,
    from: 'mirrorCandidates(siteReference(pullspec), this.#mirrors).places.map(referenceText)',
    to: '[pullspec]',
  },
]
