import type { DialectChoice } from '../../../../bmc/dialects/index.js'

/** A quirk of a BMC that a real client works around: what it does, and how it fails without. */
export interface QuirkRow {
  /** Number of `docs/bmc-dialects.md`'s sources, and the client. */
  readonly name: string
  readonly bmc: DialectChoice
  /** Call of the client, and what it works around by. */
  readonly call: string
  /** What the call ends with. */
  readonly value: unknown
  /** What it ends with when the workaround is taken away: the text of an error, or another value. */
  readonly without: RegExp | { readonly value: unknown }
}

/** An iLO of a user's own record, which refuses a change soon after another. */
const SLOW_ILO: DialectChoice = {
  base: 'ilo5',
  power: { settling: { seconds: 2, status: 400 } },
  errors: { ids: { settling: 'iLO.2.14.InvalidOperationForSystemState' } },
}

export const QUIRK_ROWS: readonly QuirkRow[] = [
  { name: '1 sushy', bmc: 'idrac9', call: 'get_system() finds the only member of the collection', value: 'System.Embedded.1', without: /x/ },
  { name: '9 sushy', bmc: 'huawei', call: 'x', value: ['1'], without: /x/ },
  { name: '14 ansible', bmc: 'supermicro-x12', call: '', value: true, without: /x/ },
  { name: '17 ansible', bmc: 'idrac9', call: '', value: [true, false], without: /x/ },
  { name: '19 sushy', bmc: SLOW_ILO, call: '', value: 'On', without: /x/ },
  { name: '21 ansible', bmc: 'nvidia-dgx', call: '', value: [true, true], without: /x/ },
  { name: '26 sushy', bmc: 'idrac10', call: '', value: ['Pxe', 'Once'], without: /x/ },
  { name: '26 gofish', bmc: 'idrac10', call: '', value: 'Pxe', without: /x/ },
  { name: '29 sushy', bmc: 'xcc', call: '', value: ['Pxe', 'Once'], without: /x/ },
  { name: '33 sushy', bmc: 'ami', call: '', value: ['Pxe', 'Once'], without: /x/ },
  { name: '36 ansible', bmc: 'ilo5', call: '', value: true, without: /x/ },
  { name: '40 sushy', bmc: 'supermicro-x12', call: '', value: 'UsbCd', without: {value: 'Cd'} },
  { name: '50 badfish', bmc: 'idrac10', call: '', value: [true, false], without: /x/ },
  { name: '52 badfish', bmc: 'idrac9', call: '', value: [true, false], without: /x/ },
  { name: '53 sushy', bmc: 'idrac9', call: '', value: false, without: /x/ },
  { name: '56 sushy', bmc: 'xcc', call: '', value: true, without: /x/ },
  { name: '57 sushy', bmc: 'supermicro-x12', call: '', value: true, without: /x/ },
  { name: '62 sushy', bmc: 'irmc', call: '', value: true, without: /x/ },
  { name: '64 sushy', bmc: 'ami', call: '', value: true, without: /x/ },
  { name: '68 gofish', bmc: 'ami', call: '', value: 'Lit', without: /x/ },
  { name: '69 sushy', bmc: 'ilo5', call: '', value: true, without: /x/ },
  { name: '70 ansible', bmc: { etags: { match: 'bare' } }, call: '', value: true, without: /x/ },
  { name: '71 gofish', bmc: 'idrac10', call: '', value: 'accepted', without: /x/ },
  { name: '77 gofish', bmc: 'idrac9', call: '', value: 10, without: /x/ },
  { name: '85 ansible', bmc: 'idrac9', call: '', value: 'Disabled', without: /x/ },
  { name: '86 sushy', bmc: 'supermicro-x13', call: '', value: true, without: /x/ },
  { name: '89 sushy', bmc: 'idrac9', call: '', value: true, without: /x/ },
]
