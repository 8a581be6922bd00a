import type { ConfigPath, Findings } from '../findings.js'
import type { StructValue, ConfigValue } from '../spec/decode.js'
import type { FieldType, Struct } from '../spec/spec.js'
import { atLeast, type SpecVersion } from '../spec/spec-versions.js'
import { checkDisk, checkFilesystem, checkPartition, checkRaid } from './disk-rules.js'
import { checkCustomClevis, checkLuks } from './luks-rules.js'
import { pathFault } from './path-rules.js'
import {
  checkCaReference,
  checkHeader,
  checkProxy,
  checkReference,
  checkResource,
  checkSources,
  checkTang,
  checkVerification,
} from './resource-rules.js'
import { checkDirectory, checkFile, checkLink, checkOwner, checkStorage, checkUnitPaths } from './storage-rules.js'
import { checkDropin, checkInstances, checkUnit } from './systemd-rules.js'

/** The value is `never` since each rule takes another struct, whose types the schema has checked. */
type StructRule = (value: never, at: ConfigPath, found: Findings, version: SpecVersion) => void

/** Rules beyond the schema, by the name of the struct. */
const RULES: Readonly<Record<string, StructRule>> = {
  Config: checkUnitPaths,
  IgnitionConfig: ({ merge }: { merge?: [] }, at, found, version) => {
    if (atLeast(version, '3.1.0')) checkSources(merge, [...at, 'merge'], found, version)
  },
  TLS: ({ certificateAuthorities }: { certificateAuthorities?: [] }, at, found, version) => {
    if (atLeast(version, '3.1.0'))
      checkSources(certificateAuthorities, [...at, 'certificateAuthorities'], found, version)
  },
  ConfigReference: checkReference,
  CaReference: checkCaReference,
  FileContents: checkResource,
  Resource: checkResource,
  HTTPHeader: checkHeader,
  Verification: checkVerification,
  Proxy: checkProxy,
  Storage: checkStorage,
  File: checkFile,
  Directory: checkDirectory,
  Link: checkLink,
  NodeUser: checkOwner,
  NodeGroup: checkOwner,
  Disk: checkDisk,
  Partition: checkPartition,
  Filesystem: checkFilesystem,
  Raid: checkRaid,
  Luks: checkLuks,
  Custom: checkCustomClevis,
  ClevisCustom: checkCustomClevis,
  Tang: checkTang,
  Systemd: checkInstances,
  Unit: checkUnit,
  Dropin: checkDropin,
}

/** Applies the rules in Ignition's order: an object's own rule, then those of its fields. */
export function applyRules(
  value: StructValue,
  struct: Struct,
  at: ConfigPath,
  found: Findings,
  version: SpecVersion,
): void {
  RULES[struct.name]?.(value as never, at, found, version)
  for (const { key, type } of struct.fields) {
    const part = value[key]
    if (part !== undefined) applyTo(part, type, [...at, key], found, version)
  }
}

function applyTo(value: ConfigValue, type: FieldType, at: ConfigPath, found: Findings, version: SpecVersion): void {
  if (type.kind === 'struct') applyRules(value as StructValue, type.struct, at, found, version)
  else if (type.kind === 'list')
    for (const [index, item] of (value as ConfigValue[]).entries())
      applyTo(item, type.items, [...at, index], found, version)
  else if (type.goType === 'types.Device') found.error(at, pathFault(value as string))
}
