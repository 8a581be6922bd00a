/** A minimal config with one more part. */
export const inside = (part: object, version = '3.4.0'): string => JSON.stringify({ ignition: { version }, ...part })
const storage = (part: object, version?: string): string => inside({ storage: part }, version)
const file = (part: object, version?: string): string => storage({ files: [{ path: '/f', ...part }] }, version)
const disk = (...partitions: object[]): string => storage({ disks: [{ device: '/dev/vda', partitions }] })
const user = (uid: string): string => `{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"a","uid":${uid}}]}}`
const units = (...list: object[]): string => inside({ systemd: { units: list } })
const luks = (part: object, version?: string): string =>
  storage({ luks: [{ name: 'data', device: '/dev/vdb', ...part }] }, version)

/** Configs that break, or barely keep, one rule of the specification each. */
export const RULES = [
  ...[{ mode: 0o777 }, { mode: 0o10000 }, { mode: -1 }, { mode: 0o4755 }, { mode: 420.0 }, { mode: 4294971392 }].map(
    (part) => file(part),
  ),
  ...[
    '420.0',
    '4.2e2',
    '1e1',
    '99999999999999999999',
    '9223372036854775808',
    '-9223372036854775808',
    '-0',
    '"420"',
  ].map((mode) => `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/a","mode":${mode}}]}}`),
  ...['9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809', '007'].map(user),
  file({ mode: 0o4755 }, '3.6.0'),
  file({ overwrite: true }),
  file({ overwrite: true, contents: { source: '' } }),
  file({ user: { id: 0, name: 'root' }, group: { id: 1, name: '' } }),
  ...['', 'f', '/', '//f', '/f/', '/f/.', '/f/../g', '/é/ü', '../f', '.'].map((path) => file({ path })),
  file({ append: [{ source: 'data:,a' }, { source: 'data:,a' }] }),
  file({ contents: { verification: { hash: `sha512-${'0'.repeat(128)}` } } }),
  file({ contents: { source: 'http://a/', httpHeaders: [{ name: 'a' }, { name: 'a', value: '' }, { name: '' }] } }),
  file({ contents: { source: 'data:,', httpHeaders: [{ name: 'a', value: 'b' }] } }),
  file({ contents: { httpHeaders: [{ name: 'a', value: 'b' }] } }),
  file({ contents: { source: 'data:,', compression: 'xz' } }),
  ...[
    `sha256-${'0'.repeat(64)}`,
    `sha512-${'0'.repeat(64)}`,
    'sha512',
    'sha1-0',
    '-',
    `sha256-${'é'.repeat(32)}`,
  ].flatMap((hash) =>
    ['3.0.0', '3.1.0'].map((version) => file({ contents: { source: 'data:,', verification: { hash } } }, version)),
  ),
  ...['gs://a/b', 'arn:aws:s3:::b/k', 's3://b/k?versionId=', 's3://b/k?versionId=%', 's3://b/k?a;versionId=&x'].flatMap(
    (source) => ['3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.6.0'].map((version) => file({ contents: { source } }, version)),
  ),
  storage({ files: [{ path: '/a' }], directories: [{ path: '/a' }], links: [{ path: '/a', target: 'b' }] }),
  storage({
    files: [{ path: '/l/a' }, { path: '/la' }],
    directories: [{ path: '/l/d' }],
    links: [
      { path: '/l', target: 'b' },
      { path: '/l/m', target: 'c' },
    ],
  }),
  storage({
    directories: [{ path: '/d' }],
    links: [{ path: '/l', target: '/d', hard: true, user: { id: 1, name: 'x' }, group: { name: '' } }],
  }),
  storage({ directories: [{ path: '/l/d' }], links: [{ path: '/l', target: 'd', hard: true }] }),
  ...['3.0.0', '3.2.0', '3.3.0'].map((version) =>
    storage({ links: [{ path: '/l' }, { path: '/m', target: '', hard: true }] }, version),
  ),
  storage({ disks: [{}, { device: 'vda' }, { device: '/dev/vdb' }, { device: '/dev/vdb' }] }),
  disk({ number: 1 }, { number: 1 }),
  disk({ number: 1, label: 'a' }, { label: 'a' }, { label: 'b' }, {}),
  disk({ number: 1, startMiB: 1, sizeMiB: 100 }, { number: 2, startMiB: 100, sizeMiB: 10 }),
  disk({ number: 1, startMiB: 1, sizeMiB: 100 }, { number: 2, startMiB: 101, sizeMiB: 0 }),
  disk(
    { number: 1, startMiB: 10, sizeMiB: 10 },
    { number: 2, startMiB: 1, sizeMiB: 100 },
    { number: 3, startMiB: 10, sizeMiB: 10 },
  ),
  disk({ number: 1, startMiB: 0, sizeMiB: 10 }, { number: 2, startMiB: 0, sizeMiB: 0 }, { number: 3, startMiB: 5 }),
  disk({ number: 0, label: 'x' }, { number: 2, shouldExist: false }),
  disk({ number: 2, shouldExist: false, sizeMiB: 3 }, { number: 3, shouldExist: false, guid: '' }),
  disk(
    { number: 1, label: 'a:b' },
    { number: 2, label: 'x'.repeat(37) },
    { number: 3, label: 'é'.repeat(19) },
    { number: 4, guid: 'x', typeGuid: '' },
  ),
  storage({
    disks: [
      { device: '/dev/a', wipeTable: true },
      { device: '/dev/b', partitions: [{ number: 1 }] },
    ],
    filesystems: [
      { device: '/dev/a', format: 'xfs' },
      { device: '/dev/b', format: 'xfs' },
    ],
  }),
  ...['ext4', 'btrfs', 'xfs', 'swap', 'vfat', 'none', 'ext3', ''].flatMap((format) =>
    [11, 12, 13, 16, 17, 256, 257].map((length) =>
      storage({ filesystems: [{ device: '/dev/a', format, label: 'x'.repeat(length) }] }),
    ),
  ),
  ...[
    { path: '/a' },
    { options: ['a'] },
    { mountOptions: ['a', 'a'] },
    { wipeFilesystem: true },
    { wipeFilesystem: false },
    { uuid: 'u' },
    { path: '' },
    { path: 'a', format: 'none' },
  ].flatMap((part) =>
    ['3.0.0', '3.1.0', '3.3.0'].map((version) => storage({ filesystems: [{ device: '/dev/a', ...part }] }, version)),
  ),
  ...['', 'linear', 'raid0', '0', 'stripe', 'raid1', 'raid2', '10', 'raid10'].flatMap((level) =>
    ['3.2.0', '3.3.0'].map((version) =>
      storage({ raid: [{ name: 'r', level, spares: 1, devices: ['/dev/a', '/dev/a', 'b', ''] }] }, version),
    ),
  ),
  storage({ raid: [{ name: 'r' }, { name: 'r' }] }),
  ...[
    {},
    { tpm2: true },
    { threshold: 0 },
    { threshold: 1 },
    { tang: [{ url: 'x' }, { url: 'https://t', thumbprint: 'a', advertisement: '{' }] },
  ].flatMap((clevis) =>
    [
      {},
      { custom: {} },
      { custom: { pin: 'tang' } },
      { custom: { pin: 'own', config: 'c' } },
      { custom: { needsNetwork: true } },
      { custom: null },
    ].flatMap((custom) =>
      ['3.2.0', '3.3.0', '3.5.0', '3.6.0'].map((version) => luks({ clevis: { ...clevis, ...custom } }, version)),
    ),
  ),
  ...[
    { name: 'a/b' },
    { label: 'x'.repeat(48) },
    { device: '' },
    { device: 'x' },
    { keyFile: { source: 'x:' } },
    { openOptions: ['a', 'a'] },
    { options: ['a', 'a'] },
    { clevis: null },
  ].map((part) => luks(part)),
  ...[
    {},
    { clevis: { tpm2: true } },
    { keyFile: { source: 'data:,' } },
    { clevis: { custom: { pin: 'sss', config: 'x' } } },
  ].map((part) => luks({ cex: { enabled: true }, ...part }, '3.5.0')),
  luks({}, '3.1.0'),
  ...['a.service', 'a', 'a.b', '.mount', 'a/b.service', 'a.service/b', 'a.scope', ''].map((name) => units({ name })),
  ...[
    '',
    '[',
    '[a',
    '[a]',
    '[a] b',
    '[a]\n\tx=y',
    '[a]\nx',
    '[a]\nx\n',
    'x=y',
    '#[a',
    '# [a]\n[b]\nc=d',
    '[a]\nb=c\\',
    '[a]\nb=\\\n\nc',
    '[a]\nb=c\\ \nd',
    '[Install]',
    '[Install]\na=b',
    '[a]\u00a0\nb=c',
    '[a] "\\\t\u0007é\u200b',
    '[a]\r\nb=c\r\n',
  ].flatMap((contents) => [
    units({ name: 'a.service', contents, enabled: true }),
    units({ name: 'a.service', dropins: [{ name: 'b', contents }, { name: 'c.conf' }] }),
  ]),
  ...[2030, 2040, 2047, 2048, 2049, 4090, 4096, 4100, 9000].flatMap((length) =>
    [
      '[a]\nb=LONG\n',
      '# LONG\n[a]',
      '[LONG]\n',
      'LONG[a]\nb=c',
      '[a]\nLONG=b\n',
      '[a]\nb=c \\\nLONG\n',
      `[a]\n${'b=c\n'.repeat(1000)}b=LONG\n`,
    ].map((contents) => units({ name: 'a.service', contents: contents.replace('LONG', 'x'.repeat(length)) })),
  ),
  units(
    { name: 'a@.service', contents: '[a]\nb=c' },
    { name: 'a@1.service', enabled: true },
    { name: 'a@@2.service', enabled: true },
  ),
  units(
    { name: 'a@.service', contents: '[Install]\nb=c' },
    { name: 'a@1.service', enabled: true, contents: '[x]\ny=z' },
  ),
  units(
    { name: 'a@.service', contents: '[' },
    { name: 'a@1.service', enabled: true },
    { name: 'a@1.service', enabled: true },
  ),
  inside({
    systemd: { units: [{ name: 'a.service', contents: '[a]', dropins: [{ name: 'b.conf', contents: '[a]' }] }] },
    storage: {
      files: [{ path: '/etc/systemd/system/a.service' }],
      directories: [{ path: '/etc/systemd/system/a.service.d/b.conf' }],
    },
  }),
  inside({
    passwd: {
      users: [{}, {}, { name: 'a', sshAuthorizedKeys: ['k', 'k'], groups: ['g', 'g'] }],
      groups: [{ name: 'a' }, { name: 'a' }],
    },
  }),
  inside({ kernelArguments: { shouldExist: ['a', 'a', 'b'], shouldNotExist: ['b', 'c'] } }),
  inside({ kernelArguments: { shouldExist: ['a'] } }, '3.2.0'),
  ...['http://p', 'https://p', 'ftp://p', '', 'p:3128', ':', 'http://p:x'].map(
    (proxy) =>
      `{"ignition":{"version":"3.4.0","proxy":{"httpProxy":${JSON.stringify(proxy)},"httpsProxy":${JSON.stringify(proxy)},"noProxy":["a","a"]}}}`,
  ),
  ...['3.0.0', '3.1.0'].flatMap((version) =>
    [
      '{"merge":[{}]}',
      '{"merge":[{"source":""}]}',
      '{"merge":[{"source":"data:,"},{"source":"data:,"}]}',
      '{"replace":{}}',
      '{"replace":{"source":"x:"}}',
      '{"merge":[null]}',
    ].map((config) => `{"ignition":{"version":"${version}","config":${config}}}`),
  ),
  ...['3.0.0', '3.1.0'].flatMap((version) =>
    ['[{}]', '[{"source":""}]', '[{"source":"http://ca"}]', 'null', '[null]', '{}'].map(
      (cas) => `{"ignition":{"version":"${version}","security":{"tls":{"certificateAuthorities":${cas}}}}}`,
    ),
  ),
]
