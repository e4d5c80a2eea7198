import { Column, Entity, PrimaryColumn } from 'typeorm';

/** ApiKeyEntity is a key that lets its holder act as a tenant. Only its hash is kept. */
@Entity({ name: 'api_key' })
export class ApiKeyEntity {
  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** hash is the SHA-256 of the key in hex: a key is random, so that nothing slower is needed. */
  @PrimaryColumn({ type: 'text' })
  hash!: string;

  /** revokedAt is null as long as the key opens anything. */
  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  @Column({ name: 'tenant_id', type: 'text' })
  tenantId!: string;
}
