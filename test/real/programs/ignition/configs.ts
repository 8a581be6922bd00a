import fc from 'fast-check'
import { ignitionSchema, type SpecVersion } from '../../../../ignition/index.js'

interface Schema {
  type?: string
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  definitions?: Record<string, Schema>
}

const DEVICES = ['/dev/vda', '/dev/vdb', '/dev/vdc', '/dev/disk/by-id/wwn-0x5', '/dev/md/root', '/dev/mapper/data']
const UNIT = '[Unit]\nDescription=of a test\n\n[Service]\nExecStart=/bin/true\n'
const ENABLED_UNIT = `${UNIT}[Install]\nWantedBy=multi-user.target\n`

/** What a field of a name may sensibly hold. */
const GOOD: Record<string, readonly unknown[]> = {
  path: [
    '/etc/a',
    '/etc/b',
    '/etc/c/d',
    '/var/lib/é',
    '/opt/x y',
    '/srv',
    '/etc/link',
    '/etc/systemd/system/e.service',
  ],
  target: ['/etc/a', '../b', 'c', '/srv'],
  source: [
    ...[
      'data:,',
      'data:,hello%0A',
      'data:text/plain;charset=utf-8;base64,aGVsbG8=',
      'data:;base64,H4sIAAAAAAAAAwMAAAAAAAAAAAA=',
    ],
    ...['https://example.com/a', 'http://[fd00::1]:8080/x?y=z#w', 'tftp://10.0.0.1/f', 's3://bucket/key'],
  ],
  compression: ['', 'gzip'],
  hash: [`sha512-${'0a'.repeat(64)}`],
  device: DEVICES,
  devices: DEVICES,
  format: ['ext4', 'btrfs', 'xfs', 'swap', 'vfat'],
  level: ['linear', 'raid0', 'raid1', 'raid5', 'raid10', 'mirror', '6'],
  label: ['root', 'data', 'DATA-2', 'boot'],
  guid: ['', '01234567-89AB-CDEF-EDCB-A98765432101', '01234567-89ab-cdef-edcb-a98765432102'],
  typeGuid: ['0FC63DAF-8483-4772-8E79-3D69D8477DE4'],
  uuid: ['c6dbc2a0-1d4c-4e2f-8f3e-5a4b3c2d1e0f'],
  number: [1, 2, 3, 4, 5, 6, 7, 8],
  startMiB: [0, 1, 100, 1000, 5000],
  sizeMiB: [0, 50, 99, 500],
  mode: [0o644, 0o755, 0o600, 0],
  id: [0, 1000],
  uid: [1000],
  gid: [1000],
  spares: [0],
  threshold: [0, 1, 2],
  httpTotal: [0, 60],
  httpResponseHeaders: [10],
  url: ['https://tang.example.com', 'http://10.0.0.2:7500'],
  thumbprint: ['thumb'],
  advertisement: ['{"payload":"x"}', ''],
  pin: ['tpm2', 'tang', 'sss'],
  config: ['{}', '{"url":"x"}'],
  httpProxy: ['http://proxy:3128', 'https://proxy'],
  httpsProxy: ['https://proxy'],
  value: ['Bearer x', 'y'],
  sshAuthorizedKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9 a', 'ssh-rsa AAAA b', 'key c'],
  shouldExist: ['mitigations=auto', 'quiet', 'console=ttyS0'],
  shouldNotExist: ['rhgb', 'nosmt', 'quiet'],
  noProxy: ['localhost', '10.0.0.0/8'],
}

const NAMES: Record<string, readonly string[]> = {
  Unit: ['a.service', 'b.service', 'c@.service', 'c@1.service', 'd.timer', 'e.service'],
  Dropin: ['10-a.conf', '20-b.conf'],
  HTTPHeader: ['Authorization', 'X-A', 'X-B'],
}
const CONTENTS = [
  UNIT,
  ENABLED_UNIT,
  '',
  '# nothing\n',
  '[Install]\nWantedBy=a.target b.target\n',
  '[Service]\nExecStart=\\\n  /bin/a \\\n  b\n',
]

/** What is wrong, strange, or belongs somewhere else. */
const BAD: readonly unknown[] = [
  ...[
    '',
    'a',
    '/',
    '//',
    '/a/',
    '/a/../b',
    './a',
    'etc/a',
    ' ',
    'é',
    '\u0000',
    '"quoted"',
    '\\',
    'a:b',
    'a/b',
    '日本語 text',
    '🙂',
  ],
  ...[
    'data:',
    'data:,%',
    'data:,%zz',
    'data:,a b',
    'data:;base64,a',
    'data:;base64,aGVs=',
    'data:;base64,=',
    'data:text,x',
    'data:text/plain',
  ],
  ...[
    'data:;x,',
    'data:;charset="a\\"b",x',
    'data:;charset="",x',
    'data:;a=b=c,d',
    'DATA:,x',
    'data:x-y/z,a',
    'data:foo/bar,a',
    'data:,#',
  ],
  ...[
    'http://',
    'http:',
    'http://a:b:c/',
    'http://[::1',
    'http://a b/',
    'http://a/%',
    'http://a/%zz',
    '://x',
    'http://u:p@h/',
    'http://u ser@h',
  ],
  ...[
    'ftp://a',
    'file:///etc',
    'oem:///x',
    'gs://bucket/object',
    's3://b/k?versionId=',
    's3://b/k?versionId=1',
    'HTTPS://X',
    'http://[fe80::1%25eth0]/',
  ],
  ...[
    'arn:aws:s3:::bucket/key',
    'arn:aws:s3:::bucket',
    'arn:aws:iam::1:user/x',
    'arn:aws:s3:us-east-1:123:accesspoint/a/object/b?versionId=',
  ],
  ...[
    'arn:aws:s3:us-east-1:123:accesspoint/a',
    'arn:x',
    'arn:/a',
    '*',
    '1http://a',
    'http://a\n',
    'http://a#%',
    '/rel',
    'a:b/c',
    'x+y://z',
  ],
  ...[
    'sha512-',
    `sha256-${'0'.repeat(63)}`,
    `sha256-${'1b'.repeat(32)}`,
    'sha1-0000',
    'md5',
    `sha512-${'z'.repeat(128)}`,
    'gzip ',
    'xz',
    'none',
    'ext3',
    'raid2',
    '0',
    '10',
  ],
  ...[
    'x'.repeat(37),
    'é'.repeat(20),
    'x'.repeat(48),
    'x'.repeat(257),
    'x'.repeat(2100),
    '01234567-89AB-CDEF-EDCB-A9876543210',
    'noext',
    'a.',
    '.service',
  ],
  ...[
    '[',
    '[Unit',
    '[Unit] x',
    'x',
    '[Unit]\nno',
    '[Unit]\nno\n',
    '[Unit]\na=b\\',
    '[a]\n;c\n#d\\\ne\nf=g',
    `[a]\nb=${'x'.repeat(3000)}\n`,
    '[a]\r\nb=c\r\n',
  ],
  ...[
    `${' '.repeat(5000)}[a`,
    `[a]\n${'#'.repeat(5000)}\nb=c\n`,
    '{',
    '1e999',
    'null',
    'custom-pin',
    'http://proxy',
    'true',
  ],
  ...[
    -1,
    0,
    1,
    3,
    4095,
    4096,
    0o1755,
    0o4755,
    65536,
    2 ** 31,
    2 ** 53,
    1.5,
    1e21,
    true,
    false,
    null,
    [],
    {},
    [null],
    ['a'],
    { a: 1 },
  ],
]

const KEYS = ['unknown', 'Path', 'SOURCE', 'é', 'a b', 'ignition', 'name', 'versıon', 'ſource']

/**
 * Configs of a version, made from its schema. In a valid one a wrong value is rare; in a mutated one values of the wrong
 * type, nulls, unknown keys and keys in another case are thrown in.
 */
export function configs(version: SpecVersion, spoiled: boolean): fc.Arbitrary<object> {
  const { definitions } = ignitionSchema(version) as Schema
  const made = new Map<string, fc.Arbitrary<unknown>>()
  const maybeBad = (good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ arbitrary: good, weight: spoiled ? 60 : 4000 }, { arbitrary: fc.constantFrom(...BAD), weight: 1 })
  const values = (schema: Schema, key: string, within: string): fc.Arbitrary<unknown> => {
    if (schema.$ref !== undefined) return maybeBad(object(schema.$ref.slice('#/definitions/'.length)))
    switch (schema.type) {
      case 'boolean':
        return maybeBad(fc.boolean())
      case 'integer':
        return maybeBad(fc.constantFrom(...(GOOD[key] ?? [1])))
      case 'array':
        return maybeBad(fc.uniqueArray(values(schema.items!, key, within), { maxLength: 3, selector: selected }))
      default:
        return maybeBad(fc.constantFrom(...(good(key, within) ?? ['x', 'y', 'zz'])))
    }
  }
  const object = (name: string): fc.Arbitrary<unknown> => {
    const found = made.get(name)
    if (found) return found
    const properties = Object.entries(definitions![name]!.properties!)
    const required = REQUIRED[name] ?? []
    const fields = fc.record(Object.fromEntries(properties.map(([key, schema]) => [key, values(schema, key, name)])), {
      requiredKeys: spoiled ? [] : required.filter((key) => properties.some(([known]) => known === key)),
    })
    const noise = fc.record({ key: fc.constantFrom(...KEYS), value: fc.constantFrom(...BAD) })
    const noisy = fc
      .tuple(fields, seldom(noise, spoiled ? 25 : 100_000))
      .map(([own, extra]) => (extra ? { ...own, [extra.key]: extra.value } : own))
    made.set(name, noisy)
    return noisy
  }
  return (object('Config') as fc.Arbitrary<{ ignition?: unknown }>).map((config) => ({
    ...((spoiled ? config : sensible(config)) as { ignition?: unknown }),
    ignition: isRecord(config.ignition) ? { ...(sensible(config.ignition) as object), version } : { version },
  }))
}

/** Once in so many times, else null. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>, times: number): fc.Arbitrary<T | null> =>
  fc.oneof({ arbitrary: fc.constant(null), weight: times - 1 }, { arbitrary, weight: 1 })

const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Takes out what cannot stand together, as far as that is seen from the object itself. */
function sensible(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => sensible(item, key))
  if (!isRecord(value)) return value
  const own = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, sensible(part, name)]))
  const { source } = own as { source?: unknown }
  if (key === 'user' || key === 'group') delete own['id']
  if ('httpHeaders' in own && !/^https?:/.test(String(source))) delete own['httpHeaders']
  if (key === 'partitions') for (const name of ['shouldExist', 'startMiB', 'label']) delete own[name]
  if (key === 'files') own['path'] = `/f${String(own['path'])}`
  if (key === 'directories') own['path'] = `/d${String(own['path'])}`
  if (key === 'luks') delete own['cex']
  if (key === 'clevis') delete own['custom']
  if (key === 'raid' && Array.isArray(own['devices']) && own['devices'].length === 0) own['devices'] = ['/dev/vdx']
  if (key === 'kernelArguments') delete own['shouldNotExist']
  if (key === 'verification' && !('hash' in own)) return {}
  if ('verification' in own && source === undefined) delete own['verification']
  if ('overwrite' in own && key === 'files' && !own['contents']) delete own['overwrite']
  return own
}

/** What of a valid config must be there. */
const REQUIRED: Record<string, string[]> = {
  Resource: ['source'],
  ...{ CaReference: ['source'], HTTPHeader: ['name'], PasswdUser: ['name'], PasswdGroup: ['name'] },
  ...{ Directory: ['path'], File: ['path', 'contents'], Link: ['path', 'target'], Disk: ['device'] },
  ...{
    Partition: ['number', 'label'],
    Filesystem: ['device', 'format'],
    Luks: ['name', 'device'],
    Tang: ['url', 'thumbprint'],
  },
  ...{ Raid: ['name', 'level', 'devices'], Unit: ['name', 'contents'], Dropin: ['name'] },
}

function good(key: string, within: string): readonly unknown[] | undefined {
  if (key === 'name') return NAMES[within] ?? ['core', 'root', 'data', 'swap']
  if (key === 'contents') return CONTENTS
  return GOOD[key]
}

/** Entries of a list that would be the same one to Ignition, mostly. */
function selected(entry: unknown): unknown {
  if (!isRecord(entry)) return entry
  const { path, name, source, url, number, label, device } = entry as Record<string, unknown>
  return path ?? name ?? source ?? url ?? number ?? label ?? device ?? entry
}

/** A config as text: compact or indented, its bytes sometimes damaged, a key sometimes repeated. */
export function texts(version: SpecVersion, spoiled: boolean): fc.Arbitrary<string> {
  const indent = fc.constantFrom(0, 0, 1, 2, '\t')
  const damage = fc.record({
    at: fc.nat(),
    what: fc.constantFrom('', '"', '{', '}', ']', ',', ':', '0', '-', 'é', '\\', '\n', 'n', '.', 'e'),
  })
  return fc
    .tuple(configs(version, spoiled), indent, seldom(damage, spoiled ? 3 : 100_000), fc.nat())
    .map(([config, space, harm, where]) => {
      const text = JSON.stringify(config, null, space)
      if (!harm) return text
      const at = harm.at % (text.length + 1)
      return where % 4 === 0 ? text.slice(0, at) : `${text.slice(0, at)}${harm.what}${text.slice(at + 1)}`
    })
}
