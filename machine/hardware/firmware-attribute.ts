export type FirmwareValue = string | number | boolean

/** A setting of the firmware, as a Redfish attribute registry describes it. */
export interface FirmwareAttribute {
  name: string
  value: FirmwareValue
  type: 'Enumeration' | 'Integer' | 'String' | 'Boolean'
  allowed: string[]
  lower: number | null
  upper: number | null
  shortest: number | null
  longest: number | null
  readOnly: boolean
  resetRequired: boolean
  unique: boolean
}

/** A setting of a type, with what is special about it. */
export const attribute = (
  name: string,
  type: FirmwareAttribute['type'],
  value: FirmwareValue,
  more: Partial<FirmwareAttribute> = {},
): FirmwareAttribute => ({
  name,
  value,
  type,
  allowed: [],
  lower: null,
  upper: null,
  shortest: null,
  longest: null,
  readOnly: false,
  resetRequired: true,
  unique: false,
  ...more,
})

/** A setting with a list of values, the factory's first. */
export const enumAttribute = (name: string, value: string, ...allowed: string[]): FirmwareAttribute =>
  attribute(name, 'Enumeration', value, { allowed: [value, ...allowed] })
/** A setting that is enabled or not. */
export const toggle = (name: string, value: 'Enabled' | 'Disabled'): FirmwareAttribute =>
  enumAttribute(name, value, value === 'Enabled' ? 'Disabled' : 'Enabled')
