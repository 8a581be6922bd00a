import fc from 'fast-check'
import type { AgentConfigOptions } from '../../../coreos/index.js'
import { anyCharacter } from '../code-points.js'

const line = (pattern: RegExp) => fc.stringMatching(pattern)
const text = fc
  .string({ unit: anyCharacter, maxLength: 40 })
  .map((text) => Buffer.from(text.replace(/[\n\r\0\p{Noncharacter_Code_Point}]/gu, ' ')).toString())
const host = fc.oneof(
  line(/^[a-z]{1,8}(\.[a-z]{1,8})?$/),
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]`),
)
const url = fc
  .tuple(
    fc.constantFrom('', 'http://', 'https://'),
    host,
    fc.constantFrom('', ':42'),
    fc.constantFrom('', '/', '/ironic'),
  )
  .map((parts) => parts.join(''))
const file = fc.uint8Array({ maxLength: 60 })
const key = fc
  .uint8Array({ minLength: 51, maxLength: 51 })
  .map((bytes) => `ssh-ed25519 ${Buffer.from(bytes).toString('base64')} a@b`)
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

/** Options of a config that runs the agent, all of which it takes. */
export const agentOptions: fc.Arbitrary<AgentConfigOptions> = fc
  .record({
    template: fc.constantFrom('today' as const, 'original' as const),
    ironicUrls: fc.array(url, { minLength: 1, maxLength: 3 }),
    inspectorUrls: optional(fc.array(url, { maxLength: 2 })),
    image: optional(line(/^[a-z]{1,6}(:[0-9]{2})?(\/[a-z]{1,6}){1,2}(:[a-z]{1,4}|@sha256:[0-9a-f]{8})?$/)),
    insecureRegistry: optional(fc.boolean()),
    pullSecret: optional(fc.json().map((auths) => `{"auths":${auths}}`)),
    tls: optional(fc.constantFrom('off' as const, 'on' as const, 'insecure' as const)),
    sshKeys: optional(fc.uniqueArray(key, { maxLength: 3 })),
    proxies: optional(fc.record({ http: line(/^http:\/\/[!-~]{1,20}$/), no: text }, { requiredKeys: [] })),
    ntpServers: optional(fc.array(line(/^[a-z0-9.:-]{1,12}$/), { maxLength: 3 })),
    registriesConf: optional(file),
    caBundle: optional(file),
    vlanInterfaces: optional(fc.constantFrom('always' as const, 'never' as const, 'auto' as const)),
    ipOptions: optional(text),
    copyNetwork: optional(fc.boolean()),
    hostname: optional(line(/^[a-z][a-z0-9]{0,10}(\.[a-z]{1,5})?$/)),
    keyfiles: optional(
      fc.uniqueArray(fc.record({ name: line(/^[A-Za-z0-9 _-]{1,10}\.nmconnection$/), bytes: file }), {
        maxLength: 3,
        selector: ({ name }) => name,
      }),
    ),
    agentOptions: optional(fc.dictionary(line(/^[a-z][a-z_]{1,10}$/), text, { maxKeys: 3 })),
  })
  .map((options) => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never)
