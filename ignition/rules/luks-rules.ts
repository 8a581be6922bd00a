import type { ConfigPath, Findings } from '../findings.js'
import type { SpecClevis, SpecCustomClevis, SpecLuks } from '../spec/config-types.js'
import { atLeast, type SpecVersion } from '../spec/spec-versions.js'
import { pathFault } from './path-rules.js'
import { urlFault } from './resource-rules.js'

export function checkLuks(luks: SpecLuks, at: ConfigPath, found: Findings, version: SpecVersion): void {
  const { name = '', label = '', device, clevis, keyFile, cex } = luks
  found.error([...at, 'name'], name.includes('/') ? 'device names cannot contain slashes' : null)
  found.error(
    [...at, 'label'],
    Buffer.byteLength(label) > 47 ? 'luks device labels cannot be longer than 47 characters' : null,
  )
  found.error([...at, 'device'], device ? pathFault(device) : 'disk device is required')
  found.error(
    [...at, 'clevis'],
    clevis && hasCustom(clevis, version) && hasPins(clevis)
      ? 'cannot use custom clevis config with tpm2, tang, or threshold'
      : null,
  )
  const badKey = keyFile?.source ? urlFault(keyFile.source, version) !== null : false
  found.error([...at, 'keys'], badKey ? 'invalid key-file source' : null)
  if (cex?.enabled !== true) return
  found.error([...at, 'cex'], clevis?.custom?.pin || (clevis && hasPins(clevis)) ? 'cannot use cex with clevis' : null)
  found.error([...at, 'cex'], keyFile?.source ? 'cannot use key file with cex' : null)
}

/** In 3.2.0 an empty `custom` counts too. */
const hasCustom = ({ custom }: SpecClevis, version: SpecVersion): boolean =>
  atLeast(version, '3.3.0') ? Boolean(custom?.pin) : custom !== undefined

const hasPins = ({ tang, tpm2, threshold }: SpecClevis): boolean =>
  Boolean(tang?.length) || tpm2 === true || Boolean(threshold)

/** Pins that clevis itself brings. From 3.6.0 on Ignition accepts others. */
const PINS = ['tpm2', 'tang', 'sss']

const isKnownPin = (pin: string): boolean => PINS.includes(pin)

export function checkCustomClevis(
  { pin = '', config = '', needsNetwork }: SpecCustomClevis,
  at: ConfigPath,
  found: Findings,
  version: SpecVersion,
): void {
  const since33 = atLeast(version, '3.3.0')
  if (pin === '' && config === '' && !(since33 && needsNetwork === true)) return
  if (pin === '' && since33) found.error([...at, 'pin'], 'missing required custom clevis pin')
  else if (!atLeast(version, '3.6.0') && !isKnownPin(pin)) found.error([...at, 'pin'], 'unsupported clevis pin')
  found.error([...at, 'config'], config === '' ? 'missing required custom clevis config' : null)
}
