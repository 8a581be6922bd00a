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

/** `ignition`: version, merged configs, timeouts, proxy, certificate authorities. */
export interface SpecHeader {
  config?: { merge?: SpecResource[]; replace?: SpecResource }
  proxy?: { httpProxy?: string; httpsProxy?: string; noProxy?: string[] }
  security?: { tls?: { certificateAuthorities?: SpecResource[] } }
  /** Seconds. */
  timeouts?: { httpResponseHeaders?: number; httpTotal?: number }
  version?: string
}

/** Contents from a URL, with their hash and compression. */
export interface SpecResource {
  compression?: string
  httpHeaders?: { name?: string; value?: string }[]
  source?: string
  verification?: { hash?: string }
}

/** A group of `passwd`. */
export interface SpecGroup {
  gid?: number
  name?: string
  passwordHash?: string
  shouldExist?: boolean
  system?: boolean
}

/** A user of `passwd`. */
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

/** `storage`: disks, filesystems, files. */
export interface SpecStorage {
  directories?: SpecDirectory[]
  disks?: SpecDisk[]
  files?: SpecFile[]
  filesystems?: SpecFilesystem[]
  links?: SpecLink[]
  luks?: SpecLuks[]
  raid?: SpecRaid[]
}

/** User or group that owns a file, by id or name. */
export interface SpecOwner {
  id?: number
  name?: string
}

/** A file, directory or link. */
export interface SpecNode {
  group?: SpecOwner
  overwrite?: boolean
  path?: string
  user?: SpecOwner
}

/** A directory. */
export interface SpecDirectory extends SpecNode {
  mode?: number
}

/** A file. */
export interface SpecFile extends SpecNode {
  append?: SpecResource[]
  contents?: SpecResource
  mode?: number
}

/** A symbolic or hard link. */
export interface SpecLink extends SpecNode {
  hard?: boolean
  target?: string
}

/** A disk to partition. */
export interface SpecDisk {
  device?: string
  partitions?: SpecPartition[]
  wipeTable?: boolean
}

/** A partition. */
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

/** A filesystem. */
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

/** An encrypted volume. */
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

/** How Clevis unlocks a volume. */
export interface SpecClevis {
  custom?: SpecCustomClevis
  tang?: SpecTang[]
  threshold?: number
  tpm2?: boolean
}

/** A Clevis pin with its configuration. */
export interface SpecCustomClevis {
  config?: string
  needsNetwork?: boolean
  pin?: string
}

/** A Tang server. */
export interface SpecTang {
  advertisement?: string
  thumbprint?: string
  url?: string
}

/** A software RAID. */
export interface SpecRaid {
  devices?: string[]
  level?: string
  name?: string
  options?: string[]
  spares?: number
}

/** A systemd unit. */
export interface SpecUnit {
  contents?: string
  dropins?: SpecDropin[]
  enabled?: boolean
  mask?: boolean
  name?: string
}

/** A drop-in of a unit. */
export interface SpecDropin {
  contents?: string
  name?: string
}
