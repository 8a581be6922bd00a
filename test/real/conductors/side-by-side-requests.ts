import { expect } from 'vitest'
import { TOKEN } from '../../kit/fake-ironic.js'
import {
  asks,
  asksWithToken,
  client,
  saysOf,
  sends,
  trips,
  withToken,
  type Difference,
  type Row,
} from './side-by-side-rows.js'

/** Requests for documents, which need no token, and for paths that are none. */
export const DOCUMENTS: readonly Row[] = [
  ...['/', '/v1/', '/v1', '/v1?a=1&b=%20', '/v1/status', '/status', '/v1/status/', '/status/'].flatMap((path) => [
    asks('GET', path),
    asks('HEAD', path),
  ]),
  ...['/nosuch', '/v1/nosuch', '/v2/', '/V1/', '/v1/./status', '/v1/%73tatus', '/v1%2fstatus', '/v1/%ff'].flatMap(
    (path) => [asks('GET', path), asks('HEAD', path)],
  ),
  ...['//', '///', '/v1//', '/v1//status', '/v1//nosuch'].map((path) => asks('GET', path)),
  ...['/?x=%ff', '/v1/?agent_token=nosuch', '/v1/status?wait=true'].map((path) => asks('GET', path)),
  ...['/', '//', '/v1/', '/v1', '/v1//', '/v1/status', '/nosuch'].flatMap((path) =>
    ['POST', 'DELETE', 'OPTIONS'].map((method) => asks(method, path)),
  ),
  asks('GET', '/', { what: 'a root asked for by another name', headers: { host: 'agent.example:1234' } }),
  asks('GET', '/v1/', { what: 'a version asked for by another name', headers: { host: 'agent.example:1234' } }),
  asks('GET', '/v1', { what: 'a redirect from another name', headers: { host: 'agent.example:1234' } }),
  asks('GET', '/', { what: 'a root in a browser', headers: { accept: 'text/html' } }),
]

const GUARDED = ['/v1/commands/', '/commands/', '/v1/commands', '/commands']
const ONE = ['/v1/commands/nosuch', '/commands/nosuch', '/v1/commands/nosuch/', '/v1//commands//nosuch?a=1']

/** Requests with and without a token, and the checks that precede the token's. */
export const TOKENS: readonly Row[] = [
  ...[...GUARDED, ...ONE, '/v1/commands/%ff', '/v1/commands/a%20b', '/v1/commands/a%2fb'].flatMap((path) => [
    asks('GET', path),
    asks('HEAD', path),
    asks('GET', `${path}${path.includes('?') ? '&' : '?'}agent_token=wrong`),
    asksWithToken('GET', path),
    asksWithToken('HEAD', path),
  ]),
  ...GUARDED.flatMap((path) => [
    asks('POST', path, { body: {} }),
    asks('POST', `${path}?agent_token=wrong`, { body: {} }),
    asksWithToken('POST', path, { body: {} }),
  ]),
  ...['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'].flatMap((method) =>
    [...GUARDED, ...ONE].flatMap((path) => [asks(method, path), asksWithToken(method, path)]),
  ),
  ...ONE.map((path) => asksWithToken('POST', path, { body: {} })),
  asks('GET', '/v1/commands/?agent_token='),
  asks('GET', '/v1/commands/?agent_token'),
  asks('GET', `/v1/commands/?agent_token=wrong&agent_token=${TOKEN}`),
  asks('GET', `/v1/commands/?agent_token=${TOKEN}&agent_token=wrong`),
  asks('GET', `/v1/commands/?AGENT_TOKEN=${TOKEN}`),
  asks('GET', `/v1/commands/?agent_token=${TOKEN.replace('p', '%70')}`),
  asks('GET', '/v1/commands/', { what: 'the token in headers', headers: { authorization: `Bearer ${TOKEN}` } }),
  asks('POST', '/v1/commands/', {
    what: 'the token in the body',
    body: { name: 'a.b', params: {}, agent_token: TOKEN },
  }),
  asks('POST', '/v1/commands/?agent_token=wrong', { what: 'no JSON and a wrong token', body: '{' }),
]

const undecodable = expect.stringMatching(/^400 Bad Request: Failed to decode JSON object: ./) as unknown
const anotherParser = saysOf('A body that cannot be decoded', undecodable, undecodable)
const missing = '400 Bad Request: Missing or invalid name or params'
const noObject = (complaint: string): Difference => trips('A body that is not an object', complaint, missing)
const noText = (type: string): Difference =>
  trips('A command whose name is no text', `'${type}' object has no attribute 'split'`, missing)

const sync = { name: 'standby.sync', params: {} }
const nested = `{"name": "standby.sync", "params": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`

const NO_COMMANDS: readonly unknown[] = [
  [],
  '"text"',
  {},
  { name: 'standby.sync' },
  { params: {} },
  { Name: 'standby.sync', Params: {} },
  ...[null, [], 'text', 5].map((params) => ({ name: 'standby.sync', params })),
]

/** Bodies that ask for a command, or seem to. */
export const BODIES: readonly Row[] = [
  ...['', ' ', '{', '{"name": "standby.sync", "params": {}', "{'name': 'standby.sync'}", 'name=standby.sync', '\u0000']
    .concat('{"name": "standby.sync", "params": {}} x', '{"name": "standby.sync", "params": {},}')
    .map((text) => sends(`the text ${JSON.stringify(text)}`, text, { differs: anotherParser })),
  asksWithToken('POST', '/v1/commands/', { what: 'no body at all', differs: anotherParser }),
  sends('the body null', null, { differs: noObject("argument of type 'NoneType' is not iterable") }),
  sends('the body 5', 5, { differs: noObject("argument of type 'int' is not iterable") }),
  sends('the body true', true, { differs: noObject("argument of type 'bool' is not iterable") }),
  sends('brackets in brackets', nested, {
    differs: trips(
      'A body that is not an object',
      'maximum recursion depth exceeded while decoding a JSON array from a unicode string',
      '400 Bad Request: Failed to decode JSON object: the request body is nested more than 500 levels deep',
    ),
  }),
  ...NO_COMMANDS.map((body) => sends(`the body ${JSON.stringify(body)}`, body)),
  ...[
    '',
    'sync',
    '.',
    '.sync',
    'standby.',
    'nosuch.sync',
    'standby.nosuch',
    'standby.sync.now',
    'Standby.Sync',
    ' standby.sync',
  ]
    .concat('standby.__init__', 'standby.execute', 'inspector.nosuch', 'standby.toString', 'constructor.sync')
    .concat('clean.get_deploy_steps', 'nosuché.größe')
    .map((name) => sends(`the command ${JSON.stringify(name)}`, { name, params: {} })),
  sends('the name null', { name: null, params: {} }, { differs: noText('NoneType') }),
  sends('the name 5', { name: 5, params: {} }, { differs: noText('int') }),
  sends('the name true', { name: true, params: {} }, { differs: noText('bool') }),
  sends('the name ["standby.sync"]', { name: ['standby.sync'], params: {} }, { differs: noText('list') }),
  sends('the name {}', { name: {}, params: {} }, { differs: noText('dict') }),
  sends('a key too many', { ...sync, more: 1 }),
  sends('a key twice', '{"name": "nosuch.sync", "name": "standby.sync", "params": {}}'),
  sends('JSON that is called text', sync, { headers: { 'content-type': 'text/plain' } }),
  sends('JSON that is called a form', sync, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  sends('JSON that is called nothing that there is', sync, { headers: { 'content-type': ';;;' } }),
  sends('a byte order mark', `\ufeff${JSON.stringify(sync)}`),
  sends('half a pair of surrogates', '{"name": "nosuch.\\ud800", "params": {}}'),
  sends('a body in chunks', sync, { headers: { 'transfer-encoding': 'chunked' } }),
  sends('a body that waits to be asked for', sync, { headers: { expect: '100-continue' } }),
  sends('JSON that is called compressed', sync, {
    headers: { 'content-encoding': 'gzip' },
    differs: {
      row: 'Bodies may have any size, and `Content-Encoding` is ignored',
      at: {
        status: [200, 400],
        body: [expect.objectContaining({ command_name: 'sync' }), client('400 Bad Request: incorrect header check')],
      },
    },
  }),
  sends('65 MiB', JSON.stringify({ name: 'nosuch.nosuch', params: { more: 'x'.repeat(65 * 2 ** 20) } }), {
    what: '65 MiB',
    differs: {
      row: 'Bodies may have any size, and `Content-Encoding` is ignored',
      at: {
        status: [404, 413],
        'body.faultstring': [
          'Not found: Extension with id nosuch not found.',
          '413 Payload Too Large: request entity too large',
        ],
      },
    },
  }),
  sends('a number that JSON lacks', '{"name": "nosuch.nosuch", "params": {"number": NaN}}', {
    differs: {
      row: 'A body that cannot be decoded',
      at: { status: [404, 400], 'body.faultstring': ['Not found: Extension with id nosuch not found.', undecodable] },
    },
  }),
]

const sleeping = { node: { uuid: 'one' }, ports: [], step: { step: 'practice_sleep', args: { seconds: 3 } } }

/** An agent at work, who waits for it, and what it remembers of it. */
export const AT_WORK: readonly Row[] = [
  sends('a synchronous command', sync),
  sends('a command that takes long', { name: 'clean.execute_clean_step', params: sleeping }),
  sends('another, meanwhile', sync),
  sends('the same, meanwhile', { name: 'clean.execute_clean_step', params: sleeping }),
  sends('another that waits, meanwhile', sync, { path: withToken('/v1/commands/?wait=true') }),
  sends('one that there is not, meanwhile', { name: 'standby.nosuch', params: {} }),
  sends('one of an extension that there is not, meanwhile', { name: 'nosuch.sync', params: {} }),
  sends('one without a dot, meanwhile', { name: 'sync', params: {} }),
  sends('an image that is none, meanwhile', { name: 'standby.prepare_image', params: {} }),
  sends('an empty object, meanwhile', {}),
  asksWithToken('GET', '/v1/commands/'),
  asksWithToken('HEAD', '/v1/commands/'),
  ...['', '?wait', '?wait=', '?wait=false', '?wait=yes', '?wait=1', '?wait=no&wait=true', '?WAIT=true'].map((query) =>
    asksWithToken('GET', `/v1/commands/{last}${query}`),
  ),
  asksWithToken('GET', '/v1/commands/nosuch?wait=true'),
  asksWithToken('GET', '/commands/{last}?wait=TRUE'),
  asksWithToken('GET', '/v1/commands/{last}'),
  sends('another, afterwards', sync),
  asksWithToken('GET', '/v1/commands/{last}'),
  sends(
    'one that fails',
    { name: 'clean.execute_clean_step', params: { ...sleeping, step: {} } },
    { path: withToken('/commands/?wait=True') },
  ),
  sends('one that is refused', { name: 'standby.nosuch', params: {} }),
  asksWithToken('GET', '/v1/commands/'),
  asksWithToken('GET', '/commands/'),
]
