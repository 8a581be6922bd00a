import { dialectOfProduct, type DialectName } from '../../bmc/dialects/index.js'
import { lastPartOf, linkAt, objectAt, textAt, type DumpedDocument, type DumpedSystem } from '../../bmc/dumps/index.js'

/** How a service tells its maker: the vendor of its root, or the first key of its `Oem`, or its manager's model. */
interface ServiceMaker {
  readonly vendor: string
  readonly model: string
  readonly version: string
}

/** Records by what a service says of itself, in the order in which they are tried. */
const MAKERS: readonly { vendor: RegExp; model?: RegExp; version?: RegExp; dialect: DialectName }[] = [
  { vendor: /dell/i, model: /^17G/i, dialect: 'idrac10' },
  { vendor: /dell/i, model: /^1[23]G/i, dialect: 'idrac8' },
  { vendor: /dell/i, version: /^2\./, dialect: 'idrac8' },
  { vendor: /dell/i, dialect: 'idrac9' },
  { vendor: /^hpe?$|hewlett/i, model: /iLO ?4/i, dialect: 'ilo4' },
  { vendor: /^hpe?$|hewlett/i, model: /iLO ?7/i, dialect: 'ilo7' },
  { vendor: /^hpe?$|hewlett/i, model: /iLO ?6/i, dialect: 'ilo6' },
  { vendor: /^hpe?$|hewlett/i, dialect: 'ilo5' },
  { vendor: /lenovo/i, model: /XCC ?3/i, dialect: 'xcc3' },
  { vendor: /lenovo/i, dialect: 'xcc' },
  { vendor: /supermicro/i, model: /\bX(?:9|10)|\bVM1$/i, dialect: 'supermicro-x10' },
  { vendor: /supermicro/i, model: /\b[XH]11/i, dialect: 'supermicro-x11' },
  { vendor: /supermicro/i, model: /\b[XH]12/i, dialect: 'supermicro-x12' },
  { vendor: /supermicro/i, model: /\b[XH]14/i, dialect: 'supermicro-x14' },
  { vendor: /supermicro/i, dialect: 'supermicro-x13' },
  { vendor: /cisco/i, dialect: 'cimc' },
  { vendor: /fujitsu|fsas/i, dialect: 'irmc' },
  { vendor: /huawei|xfusion/i, dialect: 'huawei' },
  { vendor: /openbmc|nvidia/i, model: /openbmc/i, dialect: 'openbmc' },
  { vendor: /^ami\b|megarac|american megatrends/i, dialect: 'ami' },
  { vendor: /openbmc/i, dialect: 'openbmc' },
  { vendor: /^/, model: /openbmc/i, dialect: 'openbmc' },
]

/** The record that is nearest to a dumped BMC: by the product, or else by what the service says of its maker. */
export function nearestDialect(machine: DumpedSystem): DialectName {
  const { system, manager } = machine
  const manufacturer = textAt(system.document, 'Manufacturer') ?? ''
  const product = textAt(system.document, 'Model') ?? ''
  const known = dialectOfProduct(manufacturer, product)
  // A DGX of AMI's and one of OpenBMC's have the same product name; a GB200 says NVIDIA in other places.
  const claimed = serviceMaker(machine)
  if (known !== undefined) return known
  const service = `${textAt(machine.root.document, 'Product') ?? ''} ${textAt(manager?.document, 'Model') ?? ''}`
  if (isNvidia(machine) && /openbmc|G[BH]\d00/i.test(service)) return 'nvidia-gb200'
  const found = MAKERS.find(
    ({ vendor, model, version }) =>
      vendor.test(claimed.vendor) && (model?.test(claimed.model) ?? true) && (version?.test(claimed.version) ?? true),
  )
  return found?.dialect ?? dialectOfIds(machine) ?? 'standard'
}

/** Records by the ids of system and manager, which their firmware gives. */
const IDS: readonly { system: RegExp; manager: RegExp; dialect: DialectName }[] = [
  { system: /^System\.Embedded\.1$/, manager: /^iDRAC\.Embedded\.1$/, dialect: 'idrac9' },
  { system: /^system$/, manager: /^bmc$/, dialect: 'openbmc' },
  { system: /^Self$/, manager: /^Self$/, dialect: 'ami' },
  { system: /^0$/, manager: /^iRMC$/, dialect: 'irmc' },
  { system: /^/, manager: /^CIMC$/, dialect: 'cimc' },
]

function dialectOfIds({ system, manager }: DumpedSystem): DialectName | undefined {
  const systemId = lastPartOf(system.path)
  const managerId = lastPartOf(manager?.path ?? '')
  return IDS.find((ids) => ids.system.test(systemId) && ids.manager.test(managerId))?.dialect
}

const isNvidia = ({ root, others }: DumpedSystem): boolean =>
  /nvidia/i.test(textAt(root.document, 'Vendor') ?? '') || others.some((id) => /^HGX/i.test(id))

/** The maker's name for its own properties. */
export const oemKey = (document: DumpedDocument): string | undefined =>
  Object.keys(objectAt(document, 'Oem') ?? {}).find((name) => name !== '' && !name.includes('@'))

function serviceMaker({ root, system, manager }: DumpedSystem): ServiceMaker {
  const oem = oemKey(root.document) ?? ''
  const own = oemKey(system.document) ?? ''
  const model = textAt(manager?.document, 'Model') ?? ''
  const maker = textAt(system.document, 'Manufacturer')
  const vendor = textAt(root.document, 'Vendor') ?? (oem !== '' ? oem : (maker ?? (own !== '' ? own : model)))
  return {
    vendor: /ts_fujitsu/i.test(vendor) ? 'Fujitsu' : vendor,
    // An X10 does not say that it is one; its slots are called VM1.
    model: `${model} ${textAt(system.document, 'Model') ?? ''} ${lastPartOf(linkAt(manager?.document, 'VirtualMedia') ?? '')}`,
    version: textAt(manager?.document, 'FirmwareVersion') ?? '',
  }
}
