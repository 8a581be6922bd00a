/**
 * A config as Ignition has it after reading: known fields only, nothing null, every part optional. A union of all
 * versions; what a version lacks is never there.
 */
export interface SpecConfig {
  ignition?: SpecHeader
  kernelArguments?: { shouldExist?: string[]; shouldNotExist?: string[] }
  passwd?: { groups?: SpecGroup[]; users?: SpecUser[] }
  storage?: SpecStorage
  systemd?: { units?: SpecUnit[] }
}

export interface SpecHeader {
  config?: { merge?: SpecResource[]; replace?: SpecResource }
  proxy?: { httpProxy?: string; httpsProxy?: string; noProxy?: string[] }
  security?: { tls?: { certificateAuthorities?: SpecResource[] } }
  /** Seconds. */
  timeouts?: { httpResponseHeaders?: number; httpTotal?: number }
  version?: string
}

export interface SpecResource {
  compression?: string
  httpHeaders?: { name?: string; value?: string }[]
  source?: string
  verification?: { hash?: string }
}

export interface SpecGroup {
  gid?: number
  name?: string
  passwordHash?: string
  shouldExist?: boolean
  system?: boolean
}

export interface SpecUser {
  gecos?: string
  homeDir?: string
  name?: string
  noCreateHome?: boolean
  noLogInit?: boolean
  noUserGroup?: boolean
  passwordHash?: string
  sshAuthorizedKeys?: string[]
  uid?: number
  groups?: string[]
  primaryGroup?: string
  shell?: string
  shouldExist?: boolean
  system?: boolean
}

export interface SpecStorage {
  directories?: SpecDirectory[]
  disks?: SpecDisk[]
  files?: SpecFile[]
  filesystems?: SpecFilesystem[]
  links?: SpecLink[]
  luks?: SpecLuks[]
  raid?: SpecRaid[]
}

export interface SpecOwner {
  id?: number
  name?: string
}

export interface SpecNode {
  group?: SpecOwner
  overwrite?: boolean
  path?: string
  user?: SpecOwner
}

export interface SpecDirectory extends SpecNode {
  mode?: number
}

export interface SpecFile extends SpecNode {
  append?: SpecResource[]
  contents?: SpecResource
  mode?: number
}

export interface SpecLink extends SpecNode {
  hard?: boolean
  target?: string
}

export interface SpecDisk {
  device?: string
  partitions?: SpecPartition[]
  wipeTable?: boolean
}

export interface SpecPartition {
  guid?: string
  label?: string
  number?: number
  resize?: boolean
  shouldExist?: boolean
  sizeMiB?: number
  startMiB?: number
  typeGuid?: string
  wipePartitionEntry?: boolean
}

export interface SpecFilesystem {
  device?: string
  format?: string
  label?: string
  mountOptions?: string[]
  options?: string[]
  path?: string
  uuid?: string
  wipeFilesystem?: boolean
}

export interface SpecLuks {
  cex?: { enabled?: boolean }
  clevis?: SpecClevis
  device?: string
  keyFile?: SpecResource
  label?: string
  name?: string
  options?: string[]
  uuid?: string
  wipeVolume?: boolean
}

export interface SpecClevis {
  custom?: SpecCustomClevis
  tang?: SpecTang[]
  threshold?: number
  tpm2?: boolean
}

export interface SpecCustomClevis {
  config?: string
  needsNetwork?: boolean
  pin?: string
}

export interface SpecTang {
  advertisement?: string
  thumbprint?: string
  url?: string
}

export interface SpecRaid {
  devices?: string[]
  level?: string
  name?: string
  options?: string[]
  spares?: number
}

export interface SpecUnit {
  contents?: string
  dropins?: SpecDropin[]
  enabled?: boolean
  mask?: boolean
  name?: string
}

export interface SpecDropin {
  contents?: string
  name?: string
}
