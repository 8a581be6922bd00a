import type { Machine, WrittenImage } from '../../../machine/index.js'
import { checkAction, checkPatch, textCheck, valueProblem, type PropertyCheck } from '../protocol/value-checks.js'
import { redfishPath, referenceTo, type RedfishDocument } from '../protocol/redfish-document.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import { ofMachine, type MachineCall, type OfferedCall, type RedfishResource } from '../protocol/resource.js'

const NO_IMAGE: WrittenImage = { host: '', path: '', username: '', password: '' }

const configPath = (machine: Machine, ...more: string[]): string[] => [
  'Managers',
  machine.spec.id,
  'VirtualMedia',
  'CfgCD',
  ...more,
]

/** The parts of the collection of slots that lead to CfgCD. */
export const mediaConfigLink = (machine: Machine): RedfishDocument => ({
  Oem: {
    Supermicro: {
      '@odata.type': '#SmcVirtualMediaExtensions.v1_0_0.VirtualMediaCollection',
      VirtualMediaConfig: referenceTo(...configPath(machine)),
    },
  },
})

function configOf({ machine }: MachineCall): RedfishDocument {
  const { host, path, username } = machine.firmware.writtenImage ?? NO_IMAGE
  const action = (name: string) => ({ target: redfishPath(...configPath(machine, 'Actions', `IsoConfig.${name}`)) })
  return {
    '@odata.id': redfishPath(...configPath(machine)),
    // A schema of the maker, of which $metadata says nothing.
    '@odata.type': '#IsoConfig.IsoConfig',
    Id: '1',
    Name: 'VM1',
    Host: host,
    Path: path,
    Username: username,
    Password: '********',
    Actions: { '#IsoConfig.Mount': action('Mount'), '#IsoConfig.UnMount': action('UnMount') },
  }
}

/** Slash at the beginning, and no query: the BMC asks for the path as it is. */
const imagePath: PropertyCheck = (value, name) => {
  const problems = textCheck()(value, name)
  if (problems.length > 0 || /^(?:[\\/][^?#]*)?$/.test(String(value))) return problems
  return valueProblem(name, 'format', value, 'Use the path of the image on its server, as in /images/boot.iso.')
}

async function writeConfig(call: MachineCall): Promise<void> {
  const { machine, body } = call
  const text = textCheck({ most: 256 })
  checkPatch(body, { Host: text, Path: imagePath, Username: text, Password: text }, configOf(call))
  const before = machine.firmware.writtenImage ?? NO_IMAGE
  const written = (name: string, old: string): string => String(body[name] ?? old)
  await machine.firmware.writeImage({
    host: written('Host', before.host),
    path: written('Path', before.path),
    username: written('Username', before.username),
    password: written('Password', before.password),
  })
}

/** The address of a written image: a host without a scheme is one of Windows file sharing. Undefined for no address. */
function imageUrl({ host, path }: WrittenImage): string | undefined {
  const isWeb = /^https?:\/\//i.test(host)
  if (!isWeb && !/^[\w.[\]:-]+$/.test(host)) return undefined
  const url = isWeb ? `${host.replace(/\/+$/, '')}${path}` : `cifs://${host}${path.replaceAll('\\', '/')}`
  return URL.canParse(url) ? url : undefined
}

/** @throws Refusal for an image of which CfgCD does not say where it is */
async function mount({ machine, body }: MachineCall): Promise<void> {
  checkAction('IsoConfig.Mount', body, {})
  const written = machine.firmware.writtenImage ?? NO_IMAGE
  if (written.host === '' || written.path === '')
    throw messageRefusal(400, 'PropertyMissing', [written.host === '' ? 'Host' : 'Path'], {
      resolution: 'Write Host and Path of CfgCD first.',
    })
  const url = imageUrl(written)
  if (url === undefined)
    throw messageRefusal(400, 'PropertyValueFormatError', [written.host, 'Host'], {
      property: 'Host',
      resolution:
        'Write the address of a server, as in http://images.example, or the name of one of Windows file sharing.',
    })
  const { username, password } = written
  const account = { username, password }
  await machine.firmware.insert('cdrom', url, username === '' ? {} : account)
}

const hasConfig = ({ spoken }: OfferedCall): boolean => spoken.dialect.media.insertBy === 'config'

/** CfgCD of older Supermicros: where an image is, by PATCH, and the actions that mount it (badfish main.py mount_virtual_media). */
export const MEDIA_CONFIG_RESOURCES: readonly RedfishResource[] = [
  ofMachine('/Managers/{machine}/VirtualMedia/CfgCD', {
    reads: 'read media',
    changes: 'change media',
    offers: hasConfig,
    get: configOf,
    patch: writeConfig,
  }),
  ofMachine('/Managers/{machine}/VirtualMedia/CfgCD/Actions/IsoConfig.Mount', {
    reads: 'change media',
    offers: hasConfig,
    post: mount,
  }),
  ofMachine('/Managers/{machine}/VirtualMedia/CfgCD/Actions/IsoConfig.UnMount', {
    reads: 'change media',
    offers: hasConfig,
    post: async ({ machine, body }) => {
      checkAction('IsoConfig.UnMount', body, {})
      await machine.firmware.eject(['cdrom'])
    },
  }),
]
