import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Recording } from '../../apps/recording/index.js'
import { command } from '../kit/commands/command.js'
import { answering } from '../kit/recorder.js'
import { recordingOf, type ShortExchange } from '../kit/recordings.js'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'replay-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

let files = 0
async function written({ header, exchanges }: Pick<Recording, 'header' | 'exchanges'>, end = '\n'): Promise<string> {
  const file = join(folder, `${++files}.ndjson`)
  await writeFile(file, [header, ...exchanges].map((line) => JSON.stringify(line)).join('\n') + end)
  return file
}
const file = (...exchanges: ShortExchange[]) => written(recordingOf(...exchanges))

async function ran(...argv: string[]) {
  const run = command(argv)
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr.replaceAll(`${folder}/`, '') }
}

const NODES: ShortExchange = { answers: { nodes: [] }, headers: { 'content-type': 'application/json' } }

test('diff says what differs, where, with exit code 1; nothing differs from itself', async () => {
  const before = await file(NODES, { target: '/v1/drivers', answers: { drivers: [{ name: 'ipmi' }] } })
  const after = await file(NODES, { target: '/v1/drivers', answers: { drivers: [{ name: 'redfish' }] } })
  expect(await ran('diff', before, before)).toEqual({ code: 0, stdout: '2 calls, 0 differences\n', stderr: '' })
  expect(await ran('diff', before, after)).toEqual({
    code: 1,
    stderr: '',
    stdout:
      '#2 GET /v1/drivers: body.drivers[ipmi] is missing, was {"name":"ipmi"}\n' +
      '#2 GET /v1/drivers: body.drivers[redfish] is new: {"name":"redfish"}\n2 calls, 2 differences\n',
  })
  const { code, stdout } = await ran('diff', before, after, '--json')
  expect(code).toBe(1)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines).toMatchObject([
    {
      event: 'difference',
      seqs: [2],
      call: 'GET /v1/drivers',
      place: 'body.drivers[ipmi]',
      kind: 'missing',
      was: { name: 'ipmi' },
      known: null,
    },
    { event: 'difference', kind: 'new' },
    {
      event: 'end',
      calls: 2,
      differences: 2,
      known: 0,
      compared_headers: expect.arrayContaining(['location']) as unknown,
    },
  ])
  expect(lines[2]!['varying_fields']).toContainEqual({ name: 'uuid', variation: 'id', why: 'chosen by the server' })
})

test('known differences do not count, and those that are not seen are named', async () => {
  const before = await file({ ...NODES, status: 200 })
  const after = await file({ ...NODES, status: 203 })
  const known = join(folder, 'known.yaml')
  await writeFile(known, '- {where: status, why: so}\n- {where: GET /v1/x body.a, why: gone}\n')
  expect(await ran('diff', before, after, '--known', known)).toEqual({
    code: 0,
    stderr: '',
    stdout: 'known and not seen: GET /v1/x body.a\n1 call, 0 differences, 1 known\n',
  })
})

test.each([
  ['a: 1', /known.yaml is not a list of known differences/],
  ['- where: x', /entry 1 of known.yaml has no why/],
  ['- {where: x, why: y, wher: z}', /entry 1 of known.yaml has an unknown key wher/],
  ['- [', /the known differences known.yaml cannot be read/],
])('a file with known differences that cannot be used is refused: %s', async (text, message) => {
  const known = join(folder, 'known.yaml')
  await writeFile(known, text)
  const one = await file(NODES)
  expect(await ran('diff', one, one, '--known', known)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(message) as string,
  })
})

test('replay compares with an Ironic; a cut recording is taken when asked for', async () => {
  await using ironic = await answering((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(request.headers.authorization === 'Basic bWU6cHc=' ? '{"nodes":[]}' : '{"nodes":[],"more":1}')
  })
  const cut = await written(recordingOf(NODES), '\n{"seq":2')
  expect(await ran('replay', cut, '--against', ironic.url)).toMatchObject({
    code: 2,
    stderr:
      'ironstage: 1.ndjson ends in the middle of line 3; 1 exchanges before it are whole\n'.replace(
        '1.ndjson',
        cut.split('/').at(-1)!,
      ) + '  try: give --partial to go on with the exchanges before it, or make the recording anew\n',
  })
  expect(await ran('replay', cut, '--partial', '--against', ironic.url)).toMatchObject({
    code: 1,
    stdout: '#1 GET /v1/nodes: body.more is new: 1\n1 call, 1 difference\n',
    stderr: expect.stringMatching(
      /^warn: \d+.ndjson ends in the middle of a line; the 1 exchanges before it are used\n/,
    ) as string,
  })
  const recording = recordingOf(NODES)
  Object.assign(recording.exchanges[0]!.request.headers, { authorization: 'Basic ***1' })
  const withCredentials = ironic.url.replace('//', '//me:pw@')
  expect(await ran('replay', await written(recording), '--against', withCredentials)).toMatchObject({ code: 0 })
})

test.each<[string[], RegExp, number]>([
  [['replay', 'FILE'], /--against is missing/, 2],
  [['replay', 'FILE', '--against', 'here'], /"here" is not a URL of an Ironic/, 2],
  [['replay', 'nowhere.ndjson', '--against', 'http://127.0.0.1:1'], /nowhere.ndjson cannot be read/, 2],
  [['replay', 'FILE', '--against', 'http://127.0.0.1:1'], /no answer from http:\/\/127.0.0.1:1 to call 1/, 1],
  [
    ['replay', 'FILE', '--against', 'http://127.0.0.1:1', '--secret-values', 'FILE'],
    /FILE has "recording", which is no label/,
    2,
  ],
  [['replay', 'FILE', '--against', 'http://127.0.0.1:1', '--as', 'agent'], /FILE has no request of an agent/, 2],
  [['replay', 'FILE', '--against', 'http://127.0.0.1:1', '--as', 'ironic'], /--as is "ironic", which is not one of/, 2],
  [['diff', 'FILE'], /two recordings are compared, not 1/, 2],
  [['diff', 'FILE', 'OTHER'], /OTHER is no recording/, 2],
])('wrong usage and failures: %j', async (argv, message, code) => {
  const one = await file(NODES)
  const header = `${(await readFile(one, 'utf8')).split('\n')[0]}\n`
  const good = join(folder, 'FILE')
  const other = join(folder, 'OTHER')
  await writeFile(good, argv.includes('--secret-values') ? header : await readFile(one, 'utf8'))
  await writeFile(other, '{"log":[]}\n')
  const names: Record<string, string> = { FILE: good, OTHER: other }
  const run = await ran(...argv.map((word) => names[word] ?? word))
  expect(run).toMatchObject({ code, stderr: expect.stringMatching(message) as string })
  expect(run.stdout).toBe('')
})
