import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createStagedLab } from '../lab/index.js'
import { sourceFiles } from './kit/source-tree.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Rooms whose objects live in a lab. */
const ROOMS = /^(lab|machine|agent|ironic-mock)\//

/** A field of a class that collects something while the lab runs. */
const COLLECTS =
  /^ {2}(?:readonly )?#?\w+(?:: [^=\n]+)? = new (?:Lazy)?(?:Map|Set)\b|^ {2}(?:readonly )?#?\w+: (?:Lazy)?(?:Map|Set)</m

/** Registered stores that are closures. */
const CLOSURES = ['journal', 'randomness', 'randomness of reads']

/** Files that collect, and where a snapshot has it, or why it needs none of it. */
const STORES: Record<string, string> = {
  'ironic-mock/conductor/core/dispatcher.ts': 'work under way: none at rest',
  'ironic-mock/conductor/hardware/watch-power.ts': 'in `ironic` of the state',
  'ironic-mock/conductor/core/node-task.ts': 'lives for one reaction',
  'ironic-mock/conductor/core/deadline-timers.ts': 'in `ironic` of the state',
  'ironic-mock/conductor/flows/deploy/repeated-deployments.ts': 'in `ironic` of the state',
  'ironic-mock/store/memory-rows.ts': 'in `database` of the state',
  'ironic-mock/store/record-store.ts': 'in `database` of the state',
  'ironic-mock/store/store-resources.ts': 'in `database` of the state',
  'ironic-mock/auth/htpasswd.ts': 'passwords that were checked: the same ones are right',
  'ironic-mock/auth/password-comparisons.ts': 'comparisons under way: none at rest',
  'ironic-mock/conductor/records/answered-questions.ts': 'a new API asks again',
  'ironic-mock/conductor/records/allocations.ts': 'searches under way: none at rest',
  'ironic-mock/conductor/core/node-queues.ts': 'changes that wait for another: none at rest',
  'agent/command-waiters.ts': 'requests under way: none at rest',
  'lab/bmcs/bmc-accounts.ts': 'registered: accounts',
  'lab/chaos/invariants.ts': 'watches one run, which takes no snapshots',
  'lab/lab-events.ts': 'listeners, which belong to callers',
  'lab/faults/faults.ts': 'registered: faults',
  'lab/faults/active-fault.ts': 'part of the registered faults',
  'lab/bmcs/remote-bmcs.ts': 'connections to machines elsewhere, with which a lab takes no snapshots',
  'lab/images/boot-files.ts': 'files of machines elsewhere, with which a lab takes no snapshots',
  'lab/images/live-images.ts': 'made from the records of nodes',
  'lab/journal/record-steps.ts': 'in `journal` of the state',
  'lab/faults/fault-index.ts': 'made from faults',
  'lab/journal/seen-states.ts': 'in `journal` of the state',
  'lab/journal/reader-schedule.ts': 'readers, which belong to callers',
  'lab/journal/activity.ts': 'tells what happened; the states of nodes are counted again',
  'lab/journal/flow-memory.ts': 'tells what happened, and so does not go back',
  'lab/journal/journal.ts': 'tells what happened, and so does not go back',
  'lab/members/joined-events.ts': 'readers of several processes, which take no snapshots',
  'lab/members/shared-faults.ts': 'read from a database of several processes, which take no snapshots',
  'lab/members/merge-entries.ts': 'made from the entries of one answer',
  'lab/snapshots/outside-requests.ts': 'the servers of the lab',
  'lab/snapshots/forks.ts': 'labs of their own',
  'lab/snapshots/inputs.ts': 'calls under way: none at rest',
  'lab/snapshots/snapshots.ts': 'the snapshots themselves',
  'lab/stage/agents.ts': 'agents: none at rest, started again where a lab cannot be repeated',
  'lab/stage/stage-boot-network.ts': 'blocks of one download',
  'lab/stage/own-exchanges.ts': 'registered: own',
  'lab/stage/stage-enrollment.ts': 'registered: enrolled',
  'lab/stage/stage-registry.ts': 'registered: registry',
  'lab/stage/reservation-gate.ts': 'registered: reservations',
  'lab/stage/stage-keeper.ts': 'the registry of the stores',
  'machine/network/ipxe-settings.ts': 'lives for one boot over the network',
  'machine/disk/described-disk.ts': 'in `machines` of the state',
  'machine/disk/image-contents.ts': 'contents of image files, which do not change',
  'machine/disk/ext-library.ts': 'files that one piece of work has open: none at rest',
  'machine/disk/check-image.ts': 'lives for one check',
  'machine/disk/ext4-image.ts': 'lives while one filesystem is made',
  'machine/os/running-system.ts': 'listeners, which belong to callers',
  'machine/ramdisk/ramdisk-tree.ts': 'made from the specification',
  'machine/root/root-tree.ts': 'made from the records of the system',
  'machine/file-tree.ts': 'in `machines` of the state',
  'machine/machine-disks.ts': 'in `machines` of the state',
  'machine/machine-record.ts': 'in `machines` of the state',
  'machine/machines.ts': 'in `machines` of the state',
  'machine/ramdisk/ramdisk-session.ts': 'in `machines` of the state',
  'machine/simulated-machine.ts': 'in `machines` of the state',
}

/**
 * Folders whose objects end with one command, one request or one start, run beside the lab, or belong to a database that
 * several processes share, which has no snapshots.
 */
const SHORT_LIVED =
  /^(lab\/(threads|state|control)|machine\/(programs|ignition)|ironic-mock\/(api|config|members|store\/postgres))\//

test('every object of a lab that collects something is in its snapshots, or needs not be', () => {
  const collecting = sourceFiles(root).filter(
    (file) =>
      ROOMS.test(file) &&
      !file.endsWith('.test.ts') &&
      !SHORT_LIVED.test(file) &&
      COLLECTS.test(readFileSync(join(root, file), 'utf8')),
  )
  expect(collecting.filter((file) => STORES[file] === undefined)).toEqual([])
  expect(Object.keys(STORES).filter((file) => !collecting.includes(file))).toEqual([])
})

test('every store that says that it is registered is', async () => {
  await using lab = await createStagedLab()
  const named = Object.values(STORES).flatMap((where) => /^registered: (\w+)$/.exec(where)?.[1] ?? [])
  expect([...lab.keeper.names].sort()).toEqual([...CLOSURES, ...named].sort())
})
