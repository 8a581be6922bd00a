import type { SpecVersion } from './spec-versions.js'

/**
 * Notation for a field's type: `text`, `number` and `flag` are always present (by default empty, 0, false), with a `?`
 * they are optional; any other word names one of the structs below, or, in a list, a named string type.
 */
type Reading = string

/** One notation for all versions, or one for each version that changed it. */
export type FieldRow = Reading | Partial<Record<SpecVersion, Reading>>

/**
 * Every struct of the spec with its fields, in the order of Ignition's Go types, since findings come in that order. The
 * names are those of the Go types, which appear in Ignition's messages.
 */
export const STRUCTS: Readonly<Record<string, Readonly<Record<string, FieldRow>>>> = {
  Config: {
    ignition: 'Ignition',
    kernelArguments: { '3.3.0': 'KernelArguments' },
    passwd: 'Passwd',
    storage: 'Storage',
    systemd: 'Systemd',
  },
  Ignition: {
    config: 'IgnitionConfig',
    proxy: { '3.1.0': 'Proxy' },
    security: 'Security',
    timeouts: 'Timeouts',
    version: 'text',
  },
  IgnitionConfig: {
    merge: { '3.0.0': 'ConfigReference[]', '3.1.0': 'Resource[]' },
    replace: { '3.0.0': 'ConfigReference', '3.1.0': 'Resource' },
  },
  ConfigReference: { source: 'text?', verification: 'Verification' },
  CaReference: { source: 'text', verification: 'Verification' },
  FileContents: { compression: 'text?', source: 'text?', verification: 'Verification' },
  Resource: { compression: 'text?', httpHeaders: 'HTTPHeaders', source: 'text?', verification: 'Verification' },
  HTTPHeader: { name: 'text', value: 'text?' },
  Verification: { hash: 'text?' },
  Proxy: { httpProxy: 'text?', httpsProxy: 'text?', noProxy: 'NoProxyItem[]' },
  Security: { tls: 'TLS' },
  TLS: { certificateAuthorities: { '3.0.0': 'CaReference[]', '3.1.0': 'Resource[]' } },
  Timeouts: { httpResponseHeaders: 'number?', httpTotal: 'number?' },
  KernelArguments: { shouldExist: 'KernelArgument[]', shouldNotExist: 'KernelArgument[]' },
  Passwd: { groups: 'PasswdGroup[]', users: 'PasswdUser[]' },
  PasswdGroup: {
    gid: 'number?',
    name: 'text',
    passwordHash: 'text?',
    shouldExist: { '3.2.0': 'flag?' },
    system: 'flag?',
  },
  PasswdUser: {
    gecos: 'text?',
    groups: 'Group[]',
    homeDir: 'text?',
    name: 'text',
    noCreateHome: 'flag?',
    noLogInit: 'flag?',
    noUserGroup: 'flag?',
    passwordHash: 'text?',
    primaryGroup: 'text?',
    sshAuthorizedKeys: 'SSHAuthorizedKey[]',
    shell: 'text?',
    shouldExist: { '3.2.0': 'flag?' },
    system: 'flag?',
    uid: 'number?',
  },
  Storage: {
    directories: 'Directory[]',
    disks: 'Disk[]',
    files: 'File[]',
    filesystems: 'Filesystem[]',
    links: 'Link[]',
    luks: { '3.2.0': 'Luks[]' },
    raid: 'Raid[]',
  },
  Node: { group: 'NodeGroup', overwrite: 'flag?', path: 'text', user: 'NodeUser' },
  NodeGroup: { id: 'number?', name: 'text?' },
  NodeUser: { id: 'number?', name: 'text?' },
  DirectoryEmbedded1: { mode: 'number?' },
  FileEmbedded1: {
    append: { '3.0.0': 'FileContents[]', '3.1.0': 'Resource[]' },
    contents: { '3.0.0': 'FileContents', '3.1.0': 'Resource' },
    mode: 'number?',
  },
  LinkEmbedded1: { hard: 'flag?', target: { '3.0.0': 'text', '3.3.0': 'text?' } },
  Disk: { device: 'text', partitions: 'Partition[]', wipeTable: 'flag?' },
  Partition: {
    guid: 'text?',
    label: 'text?',
    number: 'number',
    resize: { '3.2.0': 'flag?' },
    shouldExist: 'flag?',
    sizeMiB: 'number?',
    startMiB: 'number?',
    typeGuid: 'text?',
    wipePartitionEntry: 'flag?',
  },
  Filesystem: {
    device: 'text',
    format: 'text?',
    label: 'text?',
    mountOptions: { '3.1.0': 'MountOption[]' },
    options: 'FilesystemOption[]',
    path: 'text?',
    uuid: 'text?',
    wipeFilesystem: 'flag?',
  },
  Luks: {
    cex: { '3.5.0': 'Cex' },
    clevis: { '3.2.0': 'Clevis?', '3.3.0': 'Clevis' },
    device: 'text?',
    discard: { '3.4.0': 'flag?' },
    keyFile: 'Resource',
    label: 'text?',
    name: 'text',
    openOptions: { '3.4.0': 'OpenOption[]' },
    options: 'LuksOption[]',
    uuid: 'text?',
    wipeVolume: 'flag?',
  },
  Cex: { enabled: 'flag?' },
  Clevis: {
    custom: { '3.2.0': 'Custom?', '3.3.0': 'ClevisCustom' },
    tang: 'Tang[]',
    threshold: 'number?',
    tpm2: 'flag?',
  },
  Custom: { config: 'text', needsNetwork: 'flag?', pin: 'text' },
  ClevisCustom: { config: 'text?', needsNetwork: 'flag?', pin: 'text?' },
  Tang: { advertisement: { '3.4.0': 'text?' }, thumbprint: 'text?', url: 'text' },
  Raid: {
    devices: 'Device[]',
    level: { '3.0.0': 'text', '3.3.0': 'text?' },
    name: 'text',
    options: 'RaidOption[]',
    spares: 'number?',
  },
  Systemd: { units: 'Unit[]' },
  Unit: { contents: 'text?', dropins: 'Dropin[]', enabled: 'flag?', mask: 'flag?', name: 'text' },
  Dropin: { contents: 'text?', name: 'text' },
}

/** Structs that embed others; the names of the embedded ones appear in the messages of Ignition's decoder. */
export const EMBEDDED: Readonly<Record<string, readonly string[]>> = {
  Directory: ['Node', 'DirectoryEmbedded1'],
  File: ['Node', 'FileEmbedded1'],
  Link: ['Node', 'LinkEmbedded1'],
}

/** Lists with a Go type name of their own. */
export const NAMED_LISTS: Readonly<Record<string, string>> = { HTTPHeaders: 'HTTPHeader[]' }

/** Field by which entries of a list count as the same. Texts are their own keys. */
export const KEYS: Readonly<Record<string, string>> = {
  ConfigReference: 'source',
  CaReference: 'source',
  FileContents: 'source',
  Resource: 'source',
  HTTPHeader: 'name',
  PasswdGroup: 'name',
  PasswdUser: 'name',
  Directory: 'path',
  File: 'path',
  Link: 'path',
  Disk: 'device',
  Filesystem: 'device',
  Luks: 'name',
  Tang: 'url',
  Raid: 'name',
  Unit: 'name',
  Dropin: 'name',
}

/** Lists that may repeat an entry; merging concatenates them. */
export const REPEATABLE: Readonly<Record<string, readonly string[]>> = {
  File: ['append'],
  Filesystem: ['options', 'mountOptions'],
  Luks: ['options'],
  Raid: ['options'],
}

/** Lists that share one set of keys: an entry in one of them excludes the same key in the others. */
export const SHARED_KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Storage: { directories: 'node', files: 'node', links: 'node' },
  KernelArguments: { shouldExist: 'argument', shouldNotExist: 'argument' },
}
