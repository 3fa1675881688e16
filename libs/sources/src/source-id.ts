/** Identity of a source: its tenant (`*` = all) and its name. */
export interface SourceId {
  readonly tenantId: string;
  readonly name: string;
}

/** `tenant/name`. A tenant has no `/`, so the text can be taken apart. */
export const sourceKey = ({ tenantId, name }: SourceId): string => `${tenantId}/${name}`;
