import { nearestWord } from '../../base/runtime/index.js'
import type { ListedOption } from './listed-option.js'
import { OPTION_LISTING } from './option-listing.js'

/** Section and name of an option. */
export interface OptionPlace {
  readonly section: string
  readonly name: string
}

/** An option under its present name. */
export interface KnownOption extends OptionPlace {
  readonly option: ListedOption
}

/** Options that earlier releases had and Metal3's or OpenStack's files still set. */
const EARLIER_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  DEFAULT: ['watch_log_file'],
  deploy: ['default_boot_option'],
  irmc: [
    'auth_method',
    'clean_priority_restore_irmc_bios_config',
    'client_timeout',
    'fpga_ids',
    'gpu_ids',
    'kernel_append_params',
    'port',
    'query_raid_config_fgi_status_interval',
    'remote_image_server',
    'remote_image_share_name',
    'remote_image_share_root',
    'remote_image_share_type',
    'remote_image_user_domain',
    'remote_image_user_name',
    'remote_image_user_password',
    'sensor_method',
    'snmp_auth_password',
    'snmp_auth_proto',
    'snmp_community',
    'snmp_polling_interval',
    'snmp_port',
    'snmp_priv_password',
    'snmp_priv_proto',
    'snmp_security',
    'snmp_user',
    'snmp_version',
  ],
}

export const placeName = ({ section, name }: OptionPlace): string => `[${section}]${name}`

/** As oslo.config compares the names of sections: capitals do not matter, but in `DEFAULT`. */
export const sectionName = (written: string): string => (written === 'DEFAULT' ? written : written.toLowerCase())

/** Known options by section and name, present and former. */
const KNOWN_OPTIONS: ReadonlyMap<string, ReadonlyMap<string, KnownOption>> = (() => {
  const sections = new Map<string, Map<string, KnownOption>>()
  const add = (place: OptionPlace, known: KnownOption) => {
    const names = sections.get(place.section) ?? new Map<string, KnownOption>()
    // A former name may be the present one of another option.
    if (!names.has(place.name)) names.set(place.name, known)
    sections.set(place.section, names)
  }
  const listed = Object.values(OPTION_LISTING.namespaces).flatMap((listedSections) =>
    Object.entries(listedSections).flatMap(([section, options]) =>
      Object.entries(options).map(([name, option]): KnownOption => ({ section, name, option })),
    ),
  )
  for (const known of listed) add(known, known)
  for (const known of listed) for (const former of formerNames(known)) add(former, known)
  for (const [section, names] of Object.entries(EARLIER_OPTIONS))
    for (const name of names) add({ section, name }, { section, name, option: { type: 'text' } })
  return sections
})()

/** Former places of an option; oslo.config prints names of keystoneauth with underscores, and reads them with dashes. */
export function formerNames({ section, option }: KnownOption): OptionPlace[] {
  return (option.deprecated ?? []).flatMap((former) =>
    [...new Set([former.name, former.name.replaceAll('-', '_')])].map((name) => ({
      section: former.section ?? section,
      name,
    })),
  )
}

/** The option that a file means by a section and a name, which may be a former one. */
export function knownOption({ section, name }: OptionPlace): KnownOption | undefined {
  return KNOWN_OPTIONS.get(section)?.get(name)
}

/** All known options, under their present names. */
export const LISTED_OPTIONS: readonly KnownOption[] = [...KNOWN_OPTIONS].flatMap(([section, names]) =>
  [...names].flatMap(([name, known]) => (known.section === section && known.name === name ? [known] : [])),
)

/** An option of an authentication plugin: which sections have them depends on the configuration. */
export function authenticationOption(place: OptionPlace): KnownOption | undefined {
  if (place.name === 'auth_type') return { ...place, option: { type: 'text' } }
  const options = OPTION_LISTING.authentication
  const found = Object.entries(options).find(
    ([name, { deprecated = [] }]) =>
      name === place.name || deprecated.some((former) => former.name.replaceAll('-', '_') === place.name),
  )
  return found && { section: place.section, name: found[0], option: found[1] }
}

/** The known option that was most likely meant by one that is not known. */
export function nearestOption({ section, name }: OptionPlace, more: readonly OptionPlace[]): OptionPlace | undefined {
  const places = [...LISTED_OPTIONS, ...more]
  const sections = [...new Set(places.map((place) => place.section))]
  const meant = sections.includes(section) ? section : nearestIgnoringCase(section, sections)
  const beside = places.filter((place) => place.section === meant)
  const near = nearestIgnoringCase(
    name,
    beside.map((place) => place.name),
  )
  if (near !== undefined) return beside.find((place) => place.name === near)
  return places.find((place) => place.name === name)
}

/** The known section that was most likely meant by one that is not known. */
export function nearestSection(section: string, more: readonly OptionPlace[]): string | undefined {
  return nearestIgnoringCase(section, [...new Set([...LISTED_OPTIONS, ...more].map((place) => place.section))])
}

function nearestIgnoringCase(word: string, known: readonly string[]): string | undefined {
  const lower = known.map((each) => each.toLowerCase())
  const near = nearestWord(word.toLowerCase(), lower)
  return near === undefined ? undefined : known[lower.indexOf(near)]
}
