import type { IronicSpec } from './ironic-rules.js'

/** Kernel parameters of the ramdisk in Metal3's image of Ironic (ironic-config/ironic.conf.j2 of ironic-image db962c9). */
const RAMDISK_PARAMETERS = 'nofb nomodeset vga=normal ipa-insecure=1'
const DEFAULT_COLLECTORS = ['default', 'logs']
const ALL_INTERFACES = ['all']

/** Options of `ironic.conf` that the fields of an Ironic set; empty where they set nothing. */
export function ironicConf({ deployRamdisk = {}, inspection = {}, networkingService }: IronicSpec): string {
  const sshKey = (deployRamdisk.sshKey ?? '').trim()
  const more = (deployRamdisk.extraKernelParams ?? '').trim()
  const { collectors = [], vlanInterfaces = [] } = inspection
  const lines: string[] = []
  if (sshKey !== '' || more !== '') {
    const key = sshKey === '' ? [] : [`sshkey="${sshKey}"`]
    const parameters = [RAMDISK_PARAMETERS, ...key, ...(more === '' ? [] : [more])].join(' ')
    for (const section of ['pxe', 'redfish']) lines.push(`[${section}]`, `kernel_append_params = ${parameters}`)
  }
  if (networkingService?.enabled)
    // A host is inspected with DHCP, also where its own network has none, and says at which switch it is.
    lines.push('[inspector]', 'force_dhcp = true', 'hooks = $default_hooks,parse-lldp,local-link-connection')
  if (collectors.length > 0 || vlanInterfaces.length > 0) {
    const named = (names: readonly string[], others: readonly string[]) => (names.length > 0 ? names : others).join(',')
    lines.push(
      '[inspector]',
      `extra_kernel_params = ipa-inspection-collectors=${named(collectors, DEFAULT_COLLECTORS)} ` +
        `ipa-enable-vlan-interfaces=${named(vlanInterfaces, ALL_INTERFACES)} ` +
        'ipa-inspection-dhcp-all-interfaces=1 ipa-collect-lldp=1',
    )
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/**
 * `spec.extraConfig` as an `ironic.conf`. The operator hands it on in variables, `OS_GROUP__NAME`, in capital letters: the
 * letters of a name may be of any size, and an entry without a name or a value is left out.
 */
export const extraConf = ({ extraConfig = [] }: IronicSpec): string =>
  extraConfig
    .filter(({ name = '', value = '' }) => name !== '' && value !== '')
    .map(({ group = '', name = '', value }) => `[${sectionOf(group)}]\n${name.toLowerCase()} = ${value}\n`)
    .join('')

const sectionOf = (group: string): string =>
  group === '' || group.toUpperCase() === 'DEFAULT' ? 'DEFAULT' : group.toLowerCase()

/** Fields whose text would be more than the one line that it is in a file. */
export function extraConfProblem({ deployRamdisk = {}, extraConfig = [] }: IronicSpec): string | undefined {
  const texts = [
    ['spec.deployRamdisk.sshKey', (deployRamdisk.sshKey ?? '').trim()],
    ['spec.deployRamdisk.extraKernelParams', (deployRamdisk.extraKernelParams ?? '').trim()],
    ...extraConfig.flatMap(({ group = '', name = '', value = '' }, index) => [
      [`spec.extraConfig[${index}].group`, group],
      [`spec.extraConfig[${index}].name`, name],
      [`spec.extraConfig[${index}].value`, value],
    ]),
  ]
  const broken = texts.find(([, text = '']) => /[\r\n]/.test(text))
  if (broken) return `${broken[0]} has a line break: write it in one line`
  const index = extraConfig.findIndex(
    ({ group = '', name = '' }) => /[[\]=:\s#;]/.test(group) || /[[\]=:\s#;]/.test(name),
  )
  return index < 0
    ? undefined
    : `spec.extraConfig[${index}] names no option: group and name are words such as conductor and automated_clean`
}
