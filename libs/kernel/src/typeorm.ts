import './instance/this-kernel.js';

export { typeOrm, TypeOrmDatabase } from './transaction/typeorm.database.js';
