import { expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import type { SecretManifest } from './manifest-types.js'
import { registryAccount, registrySecretOf } from './registry-secret.js'

const NEW = 'kubernetes.io/dockerconfigjson'
const OLD = 'kubernetes.io/dockercfg'
const base64 = (text: string) => Buffer.from(text).toString('base64')
const account = { auth: base64('me:p:ss') }

const secret = (type: string | undefined, stringData: Record<string, string>): SecretManifest => ({
  kind: 'Secret',
  metadata: { name: 'pull', namespace: 'metal3' },
  ...defined({ type }),
  stringData,
})
const config = (auths: object) => secret(NEW, { '.dockerconfigjson': JSON.stringify({ auths }) })
const URL_OF_IMAGE = 'oci://registry.example:5000/org/os:1'

test.each<[string, SecretManifest, string, string]>([
  ['of the host with its port', config({ 'registry.example:5000': account }), URL_OF_IMAGE, 'me:p:ss'],
  ['in plain', config({ 'r.example': { username: 'u', password: 'p' } }), 'oci://r.example/os', 'u:p'],
  ['a token', config({ 'r.example': { identitytoken: 't' } }), 'oci://r.example/os', ':t'],
  ['of Docker Hub', config({ 'https://index.docker.io/v1/': account }), 'oci://docker.io/library/os', 'me:p:ss'],
  [
    'in the old form',
    secret(OLD, { '.dockercfg': JSON.stringify({ 'r.example': account }) }),
    'oci://r.example/os',
    'me:p:ss',
  ],
])('an account %s', (_, from, url, found) => expect(registryAccount(from, url)).toBe(found))

const extracting = 'failed to extract credentials from secret "pull": '
test.each<[string, SecretManifest, string, string]>([
  [
    'of another type',
    secret('Opaque', {}),
    URL_OF_IMAGE,
    `secret "pull" has unsupported type "Opaque" (expected ${NEW} or ${OLD})`,
  ],
  [
    'without a type',
    secret(undefined, {}),
    URL_OF_IMAGE,
    `secret "pull" has unsupported type "Opaque" (expected ${NEW} or ${OLD})`,
  ],
  [
    'without the key',
    secret(NEW, {}),
    URL_OF_IMAGE,
    `${extracting}secret does not contain .dockerconfigjson or .dockercfg key`,
  ],
  [
    'without the registry',
    config({ 'registry.example': account }),
    URL_OF_IMAGE,
    `${extracting}registry registry.example:5000 not found in auth config`,
  ],
  [
    'with an empty entry',
    config({ 'registry.example:5000': {} }),
    URL_OF_IMAGE,
    `${extracting}registry registry.example:5000 not found in auth config`,
  ],
  [
    'with no account',
    config({ 'registry.example:5000': { auth: base64('none') } }),
    URL_OF_IMAGE,
    `${extracting}failed to get credentials for registry registry.example:5000: invalid auth configuration`,
  ],
  [
    'that is no JSON',
    secret(NEW, { '.dockerconfigjson': '{"auths": s3cret' }),
    URL_OF_IMAGE,
    `${extracting}failed to parse dockerconfigjson: it is no JSON of that form`,
  ],
])('a Secret %s is refused in the words of the operator', (_, from, url, words) =>
  expect(() => registryAccount(from, url)).toThrow(words),
)

test('only images of registries have one', () => {
  expect(registrySecretOf({ url: URL_OF_IMAGE, ociAuthSecretName: 'pull' })).toBe('pull')
  expect(registrySecretOf({ url: 'http://x/y', ociAuthSecretName: 'pull' })).toBeUndefined()
  expect(registrySecretOf({ url: URL_OF_IMAGE, ociAuthSecretName: '' })).toBeUndefined()
  expect(registrySecretOf()).toBeUndefined()
})
