import { expect, test } from 'vitest'
import { Masker } from './masker.js'
import { makeRecordedMessage } from './masked-message.js'
import { SecretNames } from './secret-names.js'

const masker = (...more: string[]): Masker => new Masker(new SecretNames(more))

test('equal secrets have equal labels, in documents, headers and queries', () => {
  const all = masker()
  const token = 'kKJ8-a_token'
  expect(all.target(`/v1/commands/?wait=true&agent_token=${token}`)).toBe('/v1/commands/?wait=true&agent_token=***1')
  expect(all.json({ config: { agent_token: token, agent_token_required: true }, password: 'other' })).toEqual({
    config: { agent_token: '***1', agent_token_required: true },
    password: '***2',
  })
  expect(all.headers({ 'x-auth-token': token, 'user-agent': 'x' })).toEqual({
    'x-auth-token': '***1',
    'user-agent': 'x',
  })
  expect(all.headers({ authorization: 'Basic YTpi' })).toEqual({ authorization: 'Basic ***3' })
  expect(all.text(`the token ${token} is wrong`)).toBe('the token ***1 is wrong')
})

test('values that Ironic masks stay masked, and empty values stay empty', () => {
  expect(masker().json({ redfish_password: '******', rescue_password: '', agent_secret_token: null })).toEqual({
    redfish_password: '******',
    rescue_password: '',
    agent_secret_token: null,
  })
})

test('a patch names its secret by its path', () => {
  const patch = [
    { op: 'add', path: '/driver_info/redfish_password', value: 'hunter2' },
    { op: 'add', path: '/driver_info', value: { ipmi_password: 'hunter2', ipmi_username: 'admin' } },
  ]
  expect(masker().json(patch)).toEqual([
    { op: 'add', path: '/driver_info/redfish_password', value: '***1' },
    { op: 'add', path: '/driver_info', value: { ipmi_password: '***1', ipmi_username: 'admin' } },
  ])
})

const CONFIG = {
  ignition: {
    version: '3.4.0',
    config: {
      merge: [{ source: 'https://192.0.2.1/config', httpHeaders: [{ name: 'Authorization', value: 'Bearer abc' }] }],
    },
  },
  passwd: { users: [{ name: 'core', passwordHash: '$6$x', sshAuthorizedKeys: ['ssh-ed25519 AAAA'] }] },
  storage: {
    files: [{ path: '/etc/key', mode: 384, contents: { source: 'data:;base64,c2VjcmV0', compression: 'gzip' } }],
  },
  systemd: { units: [{ name: 'a.service', contents: '[Service]\nEnvironment=KEY=1' }] },
}
const MASKED = {
  ignition: {
    version: '3.4.0',
    config: {
      merge: [{ source: 'https://192.0.2.1/config', httpHeaders: [{ name: 'Authorization', value: '***1' }] }],
    },
  },
  passwd: { users: [{ name: 'core', passwordHash: '***2', sshAuthorizedKeys: ['ssh-ed25519 AAAA'] }] },
  storage: { files: [{ path: '/etc/key', mode: 384, contents: { source: 'data:,***3' } }] },
  systemd: { units: [{ name: 'a.service', contents: '# ***4' }] },
}

test('an Ignition config keeps its form, as an object, as a text and in a config drive', () => {
  expect(masker().json(CONFIG)).toEqual(MASKED)
  const text = masker().json({ user_data: JSON.stringify(CONFIG) }) as { user_data: string }
  expect(JSON.parse(text.user_data)).toEqual(MASKED)
  const network = { network_data: { links: [{ id: 'eth0', type: 'phy' }] } }
  const drive = { user_data: CONFIG, meta_data: { name: 'node-1', licence: 'of Secret' }, ...network }
  expect(masker().json({ configdrive: drive })).toEqual({
    configdrive: { user_data: MASKED, meta_data: { name: 'node-1', licence: '***5' }, ...network },
  })
  expect(masker().json({ configdrive: 'H4sIAAAA' })).toEqual({ configdrive: '***1' })
})

test('passwords and signatures in URLs are masked', () => {
  expect(masker().text('GET https://me:hunter2@192.0.2.1/image?X-Amz-Signature=abc&size=1 failed')).toBe(
    'GET https://me:***1@192.0.2.1/image?X-Amz-Signature=***2&size=1 failed',
  )
})

test('a document in a text is masked like any other', () => {
  const fault = { error_message: JSON.stringify({ faultstring: 'no', password: 'hunter2' }) }
  expect(masker().json(fault)).toEqual({ error_message: '{"faultstring":"no","password":"***1"}' })
})

test('further names are secrets when they are named', () => {
  expect(masker().json({ community: 'public' })).toEqual({ community: 'public' })
  expect(masker('Community').json({ community: 'public' })).toEqual({ community: '***1' })
})

test('a body is a document, a text or bytes; one that is nested too deeply is not kept', () => {
  const of = (text: string | Buffer, headers = {}) => {
    const excerpt = Buffer.from(text)
    return makeRecordedMessage(headers, { excerpt, bytes: excerpt.length }, masker())
  }
  expect(of('')).toEqual({ headers: {}, bytes: 0 })
  expect(of('[1]')).toEqual({ headers: {}, bytes: 3, body: [1] })
  expect(of('null', { 'content-type': 'application/json' })).toMatchObject({ body: null })
  expect(of('{"a":')).toMatchObject({ text: '{"a":' })
  expect(of('hello')).toMatchObject({ text: 'hello' })
  expect(of(Buffer.from([0xff, 0x00]))).toMatchObject({ base64: '/wA=' })
  expect(of('['.repeat(100_000) + ']'.repeat(100_000))).toEqual({ headers: {}, bytes: 200_000, cut: true })
  expect(of(JSON.stringify({ text: '['.repeat(3000) + ']'.repeat(3000) }))).toMatchObject({ body: { text: '***1' } })
})

test('a cut text ends with a whole character', () => {
  const excerpt = Buffer.from('grün').subarray(0, 3)
  expect(makeRecordedMessage({}, { excerpt, bytes: 5 }, masker())).toEqual({
    headers: {},
    bytes: 5,
    text: 'gr',
    cut: true,
  })
})
