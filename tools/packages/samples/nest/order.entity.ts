import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('orders')
export class Order {
  @PrimaryColumn('text')
  id!: string;

  @Column('text', { nullable: true })
  receipt!: string | null;
}
