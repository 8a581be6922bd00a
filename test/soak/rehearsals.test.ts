import { expect, test } from 'vitest'
import { ALL_BEHAVIOURS, rehearse, storiesOf } from '../../apps/cluster/index.js'
import { CLUSTER_ERAS, type ClusterEra } from '../../base/kubernetes/index.js'
import { silent } from '../../base/runtime/index.js'

const plays = (name: string, as: ClusterEra, without: readonly string[] = []) =>
  rehearse(
    storiesOf(as).find((story) => story.name === name)!,
    {
      as,
      without,
      logger: silent,
      signal: new AbortController().signal,
      onLine: () => {},
    },
  )

const PLAYED = CLUSTER_ERAS.flatMap((as) => storiesOf(as).map(({ name }) => [as, name] as const))

test.each(PLAYED)('as %s the story %s goes as expected', async (as, name) => {
  expect((await plays(name, as)).failures).toEqual([])
})

/** The first failure of a story without a behaviour: it tells something that the cluster has done or become. */
const SHOWN: Readonly<Record<string, RegExp>> = {
  'bmo/adopts': /active in Ironic; but host-1 is manageable/,
  'bmo/backs-off': /has one that refused \d{3,} logins/,
  'bmo/deprovisions': /after a day the machine \S+ is Provisioned/,
  'bmo/limits-busy-hosts': /at most 20 hosts boot over the network at once; but 24 did/,
  'bmo/reboots-waiting-hosts': /deploy image of 4\.15\.0 .*; but host-1 has 414\./,
  'bmo/registers-again': /deploy image of 4\.15\.0 .*; but host-1 has 414\./,
  'bmo/uses-the-image-of-the-host': /host-1 runs no installed system/,
  'bmo/waits-for-the-image': /is inspecting; but host-1 is available/,
  'cbo/copies-the-iso-of-the-release': /deploy image of 4\.15\.0 .*; but host-2 has 414\./,
  'cbo/restarts-ironic': /deploy image of 4\.15\.0 .*; but host-1 has 414\./,
  'cbo/updates-image-service-first': /is available; but host-1 is inspecting/,
  'cbo/waits-for-its-pods': /deploy image of 4\.15\.0 .*; but host-1 has 414\./,
  'cvo/applies-in-order': /rebooted 0 times since the upgrade; but host-1 was rebooted once/,
  'cvo/keeps-the-first-release': /the upgrade is refused; but it is under way/,
  'cvo/refuses-downgrades': /the upgrade is refused.*; but it is under way/,
  'cvo/verifies-payloads': /the upgrade is refused .*; but it is under way/,
  'cvo/waits-for-operators': /is degraded \(digest\); but host-1 is Working/,
  'icc/embeds-the-agent': /host-1 runs no agent/,
  'icc/makes-an-image-for-each-host': /host-1 runs one without any/,
  'icc/remakes-images': /after a day host-1 is inspecting/,
  'mao/chooses-free-hosts': /of 4\.14\.0; but host-1 was installed from that of 4\.15\.0/,
  'mao/drains-before-deletion': /no node goes down under its workloads; but host-\d did/,
  'mao/keeps-replicas': /after a day there are 0 of 1 workers/,
  'mao/releases-empty-hosts': /is available; but host-\d is provisioned/,
  'mco/detects-config-drift': /is degraded .*; but host-1 is Done/,
  'mco/drains-nodes': /no node goes down under its workloads; but host-\d did/,
  'mco/honours-paused-pools': /rebooted 0 times since the upgrade; but host-\d was rebooted once/,
  'mco/keeps-pinned-boot-images': /boot image of 4\.14\.0; but they install 4\.15\.0/,
  'mco/names-boot-image-skew': /no difference was named/,
  'mco/refuses-older-boot-images': /the boot image is refused \(older\); but/,
  'mco/respects-max-unavailable': /at most 1 of the control plane is away at once; but 3 were/,
  'mco/retries-pulls': /runs 4\.20\.0 .*; but host-1 runs 9\.6\.20250902\.0/,
  'mco/serves-the-node-image': /runs 4\.19\.0 .*; but host-1 runs 9\.6\.20250826\.1/,
  'mco/translates-ignition': /after a day the machine \S+ is Provisioned/,
  'mco/updates-boot-images': /of 4\.15\.0; but host-2 was installed from that of 4\.14\.0/,
  'mco/validates-after-reboot': /is degraded .*; but host-1 is Done/,
  'mco/waits-for-required-pools': /is degraded \(digest\); but host-1 is Working/,
  'mco/withholds-boot-images': /boot image of 4\.14\.0; but they install 4\.15\.0/,
}

/** The same as of today, where it is another failure or the behaviour is of today alone. */
const SHOWN_TODAY: Readonly<Record<string, RegExp>> = {
  'bmo/copies-labels': /deploy image of 5\.0\.0 .*; but host-2 has 9\.8\./,
  'cbo/ignores-the-image-service': /is healthy; but it is degraded: metal3-image-customization/,
  'cbo/needs-the-address-of-ironic': /in this order: .*, metal3-image-customization, metal3-image-customization$/,
  'cbo/reports-its-version-first': /the upgrade is completed; but it is failing/,
  'cbo/restarts-ironic': /in this order: .*; but it was metal3-baremetal-operator, /,
  'cvo/applies-in-order': /rebooted 0 times since the upgrade; but host-1 was rebooted once/,
  'cvo/heeds-upgradeable': /another minor release is refused .*; but every operator allows/,
  'cvo/refuses-giant-hops': /the upgrade is refused \(more than one minor version\); but it is under way/,
  'icc/makes-images-by-stream': /deploy image of 5\.0\.0 .*; but host-2 has 9\.8\./,
  'icc/remakes-images': /deploy image of 4\.15\.0 .*; but host-1 has 414\./,
  'installer/names-no-boot-image': /of 4\.22\.0; but host-\d was installed from that of 4\.21\.0/,
  'mao/chooses-free-hosts': /after a day the machine \S+ has no host/,
  'mco/enforces-boot-image-skew': /in mode Manual \(4\.9\.0\); but it is not enforced/,
  'mco/honours-managed-boot-images': /boot image of 4\.21\.0; but they install 4\.22\.0/,
  'mco/keeps-the-installed-stream': /each of the nodes runs 5\.0\.0 .*; but host-1 runs 10\.2\./,
  'mco/leaves-unknown-images': /boot image of 4\.21\.0; but they install 4\.22\.0/,
  'mco/refuses-managed-boot-images': /are refused .*; but nothing was done about it/,
  'mco/refuses-runc-on-rhel-10': /is not rendered \(runc is not available\); but it is/,
  'mco/runs-the-stream-of-the-pool': /runs no stream; but it runs rhel-9/,
  'mco/skips-bare-metal': /boot image of 4\.21\.0; but they install 4\.22\.0/,
  'mco/stops-hot-loops': /boot image of 4\.21\.0; but they install 4\.22\.0/,
  'mco/updates-images-on-clouds': /boot image of 4\.22\.0; but they install 4\.21\.0/,
  'mco/waits-for-a-complete-upgrade': /boot image of 4\.21\.0; but they install 4\.22\.0/,
  'mco/waits-for-its-stamps': /boot image of 4\.18\.0; but they install 4\.19\.0/,
}

const TAKEN_AWAY = CLUSTER_ERAS.flatMap((as) =>
  ALL_BEHAVIOURS.flatMap(({ name, stories, says }) => {
    const story = stories[as]
    return story === undefined ? [] : [[as, name, story, says] as const]
  }),
)

test.each(TAKEN_AWAY)('as %s, without %s, the story %s fails', async (as, name, story, says) => {
  const { failures } = await plays(story, as, [name])
  const shown = as === 'today' ? (SHOWN_TODAY[name] ?? SHOWN[name]) : SHOWN[name]
  expect(failures[0]).toMatch(shown!)
  expect(failures.at(-1)).toBe(`without ${name}: ${says}`)
})

const PAIRS = CLUSTER_ERAS.flatMap((as) =>
  storiesOf(as).flatMap(({ name }) =>
    ALL_BEHAVIOURS.flatMap((behaviour) =>
      behaviour.stories[as] === undefined ? [] : [[as, name, behaviour.name] as const],
    ),
  ),
)

test.each(PAIRS)(
  'as %s the story %s ends without %s',
  async (as, name, behaviour) => {
    const { holds, failures } = await plays(name, as, [behaviour])
    expect(
      failures.every((sentence) => !sentence.includes('the story broke off')),
      failures.join('\n'),
    ).toBe(true)
    expect(failures.length > 0).toBe(!holds)
  },
  // A story takes seconds: one that waits for what never comes would take for ever.
  120_000,
)
