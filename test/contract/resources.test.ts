import { expect, test } from 'vitest'
import { readRecording } from './recording.js'
import { replay, type Difference } from './replay.js'
import { settled } from './settled.js'
import { openStage } from './stage.js'

const onPurpose: Record<number, Difference> = {}
/** The same difference in several exchanges, by their numbers. */
function differs(difference: Difference, ...exchanges: number[]): void {
  for (const seq of exchanges) onPurpose[seq] = difference
}

differs(
  { why: "a call without its ident is the client's mistake, where upstream trips (500)", status: 400 },
  ...[35, 38, 137, 140, 1093],
)
differs({ why: 'a field that nodes do not have is a 400 that names it', status: 400 }, ...[500, 501, 1158])
differs(
  { why: 'wrong arguments of an inspection rule are refused, where upstream trips (500)', status: 400 },
  ...[
    879, 880, 890, 896, 897, 898, 899, 900, 901, 902, 903, 904, 905, 906, 907, 908, 909, 910, 911, 924, 926, 927, 930,
    931, 934, 935, 938, 939, 942, 943, 944, 946, 947, 948, 950, 951, 952, 954, 955, 958, 959, 962, 963, 966, 967,
  ],
)
differs(
  { why: 'a node that cannot be backfilled is a refusal, where upstream trips (500)', status: 400 },
  ...[1006, 1079, 1085],
)
differs({ why: 'all inspection rules can be deleted, where upstream trips (500)', status: 204 }, 312, 997)
differs({ why: 'follows from #997: the rules are gone', status: 200 }, 998)
differs({ why: 'a port or portgroup can be moved to another node, where upstream trips (500)', status: 200 }, 654, 679)
differs({ why: 'a removed boolean is the default again, where upstream trips (500)', status: 200 }, 664, 677)
differs({ why: 'a step added to a runbook needs no args, where upstream trips (500)', status: 200 }, 853)
differs({ why: 'an inspection rule needs no conditions, where upstream trips (500)', status: 201 }, 881)
differs({ why: 'a path that a version has not is a 404, where upstream trips (500)', status: 404 }, 1193)
differs({ why: "a node's and portgroup's own are found by its name too", status: 200 }, 578, 582, 751)
differs(
  {
    why: 'the node that is not there is named, and not a portgroup',
    status: 404,
    error: 'Node 00000000-0000-4000-8000-00000000dead could not be found.',
  },
  579,
)
differs({ why: 'a port joins no portgroup of another node', status: 400 }, 590)
differs({ why: 'follows from #590: the port is still in the other portgroup', status: 200 }, 596, 597, 598, 599, 600)
differs({ why: 'the node that is not there is named', status: 400, error: 'Node nosuch could not be found.' }, 626)
differs(
  { why: 'a name that is taken is named, and not a UUID', status: 409, error: 'A port with name p1 already exists.' },
  633,
)
differs(
  { why: 'the arguments of an inspection rule are kept as they were given', status: 201, asSent: ['actions'] },
  ...[918, 919, 920],
)
differs(
  { why: 'links of inspection rules lead to them', status: 200, next: '/v1/inspection_rules?' },
  ...[978, 979, 980, 982],
)
differs(
  {
    why: 'unknown candidates are told in the order in which they were given',
    status: 400,
    error: 'Nodes cannot be found: nosuch, 00000000-0000-4000-8000-00000000dead',
  },
  1002,
)
differs(
  {
    why: 'the marker is an allocation that failed, whose uuid nobody was told',
    status: 200,
    next: '/v1/allocations?sort_key=id&sort_dir=asc&limit=1&marker=',
  },
  1044,
)

test('other resources of a real Ironic: 1,194 calls of portgroups, chassis, allocations, volumes, templates, runbooks, rules and lists', async () => {
  await using stage = await openStage()
  const result = await replay(stage.api, readRecording('resources'), {
    settle: settled(stage),
    momentary: ['reservation', 'updated_at', 'power_state'],
    onPurpose,
  })
  expect(result.differences).toEqual([])
  expect(result.replayed).toBe(1194)
})
