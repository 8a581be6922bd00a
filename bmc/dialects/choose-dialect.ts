import type { DialectName } from './dialect-name.js'

/** Products by which a maker's machines tell their BMC, in the order in which they are tried. */
const PRODUCTS: readonly { maker: RegExp; product: RegExp; dialect: DialectName }[] = [
  // The second digit of a PowerEdge is its generation: R630 the 13th, R650 the 15th, R770 the 17th.
  { maker: /^dell\b/i, product: /\b[CFMRT]x?\d3\d{1,2}\w*$/i, dialect: 'idrac8' },
  { maker: /^dell\b/i, product: /\b(?:[CFMRT]|MX|XE|XR)\d{1,2}[456]\d{1,2}\w*$/i, dialect: 'idrac9' },
  { maker: /^dell\b/i, product: /\b(?:[CFMRT]|MX|XE|XR)\d7\d{1,2}\w*$/i, dialect: 'idrac10' },
  { maker: /^(?:hpe?|hewlett)\b/i, product: /\bGen9\b/i, dialect: 'ilo4' },
  { maker: /^(?:hpe?|hewlett)\b/i, product: /\bGen10\b/i, dialect: 'ilo5' },
  { maker: /^(?:hpe?|hewlett)\b/i, product: /\bGen11\b/i, dialect: 'ilo6' },
  { maker: /^(?:hpe?|hewlett)\b/i, product: /\bGen12\b/i, dialect: 'ilo7' },
  { maker: /^lenovo\b/i, product: /\bThinkSystem\b.*\bV4\b/i, dialect: 'xcc3' },
  { maker: /^lenovo\b/i, product: /\bThinkSystem\b/i, dialect: 'xcc' },
  { maker: /^super ?micro\b/i, product: /\bX10/i, dialect: 'supermicro-x10' },
  { maker: /^super ?micro\b/i, product: /\b[XH]11/i, dialect: 'supermicro-x11' },
  { maker: /^super ?micro\b/i, product: /\b[XH]12/i, dialect: 'supermicro-x12' },
  { maker: /^super ?micro\b/i, product: /\b[XH]13/i, dialect: 'supermicro-x13' },
  { maker: /^super ?micro\b/i, product: /\b[XH]14/i, dialect: 'supermicro-x14' },
  { maker: /^nvidia\b/i, product: /\bGB200\b/i, dialect: 'nvidia-gb200' },
  { maker: /^nvidia\b/i, product: /\bDGX/i, dialect: 'nvidia-dgx' },
  { maker: /^(?:asrock|gigabyte)/i, product: /^/, dialect: 'ami' },
  { maker: /^cisco\b/i, product: /\bUCSC?\b/i, dialect: 'cimc' },
  { maker: /^fujitsu\b/i, product: /\bPRIMERGY\b/i, dialect: 'irmc' },
]

/** The BMC of a product; undefined for one that is not known. */
export function dialectOfProduct(manufacturer: string, product: string): DialectName | undefined {
  return PRODUCTS.find((known) => known.maker.test(manufacturer) && known.product.test(product))?.dialect
}

/**
 * BMCs that the address of a BareMetalHost names by its scheme; `redfish`, `redfish-virtualmedia`, `redfish-uefihttp`, `ipmi`
 * and `libvirt` name none. `idrac`, `ilo4`, `ilo5`, `irmc` and `ibmc` are those of earlier versions of BareMetal Operator
 * (pkg/hardwareutils/bmc/ilo4.go, irmc.go, ibmc.go), for manifests that still have them.
 */
const SCHEMES: Readonly<Record<string, DialectName>> = {
  idrac: 'idrac9',
  'idrac-redfish': 'idrac9',
  'idrac-virtualmedia': 'idrac9',
  ilo4: 'ilo4',
  'ilo4-virtualmedia': 'ilo4',
  ilo5: 'ilo5',
  'ilo5-redfish': 'ilo5',
  'ilo5-virtualmedia': 'ilo5',
  irmc: 'irmc',
  ibmc: 'huawei',
}

/** The BMC of an address, as of `idrac-virtualmedia+https://10.0.0.5/redfish/v1/Systems/1`; undefined for another scheme. */
export function dialectOfAddress(address: string): DialectName | undefined {
  const scheme = /^([a-z\d-]+)(?:\+[a-z\d]+)?:/i.exec(address)?.[1]?.toLowerCase()
  return scheme !== undefined && Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme] : undefined
}
