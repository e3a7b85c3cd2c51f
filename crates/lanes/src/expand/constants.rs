//! Constants of the expansions, derived by `tests/vectors/coefficients.py`.

#![allow(
    clippy::approx_constant,
    reason = "tables hold every bit of their numbers, whatever they come near to"
)]

use crate::LookupTable;

/// (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2.
pub(super) const EXP: [f64; 11] = [
    f64::from_bits(0x3fe0_0000_0000_0000),
    f64::from_bits(0x3fc5_5555_5555_5557),
    f64::from_bits(0x3fa5_5555_5555_5556),
    f64::from_bits(0x3f81_1111_1111_00dc),
    f64::from_bits(0x3f56_c16c_16c1_62d4),
    f64::from_bits(0x3f2a_01a0_1abe_7fe1),
    f64::from_bits(0x3efa_01a0_1a6d_889c),
    f64::from_bits(0x3ec7_1de0_2319_60eb),
    f64::from_bits(0x3e92_7e4d_b646_b17e),
    f64::from_bits(0x3e5a_f4de_97ca_4194),
    f64::from_bits(0x3e21_f730_3498_68ce),
];

/// 1 / ln(2).
pub(super) const LOG2_E: f64 = f64::from_bits(0x3ff7_1547_652b_82fe);

/// ln(2) to 42 binary places: times an exponent it is exact.
pub(super) const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);

/// What `LN2_HIGH` leaves of ln(2).
pub(super) const LN2_LOW: f64 = f64::from_bits(0x3d2e_f357_93c7_6730);

/// (sinh(r) - r) / r^3 in r^2 for |r| <= ln(2) / 2.
pub(super) const SINH: [f64; 6] = [
    f64::from_bits(0x3fc5_5555_5555_5555),
    f64::from_bits(0x3f81_1111_1111_1111),
    f64::from_bits(0x3f2a_01a0_1a01_96ac),
    f64::from_bits(0x3ec7_1de3_a5aa_7bb7),
    f64::from_bits(0x3e5a_e642_c82e_33d5),
    f64::from_bits(0x3de6_1bfa_a228_dde5),
];

/// (cosh(r) - 1) / r^2 in r^2 for |r| <= ln(2) / 2.
pub(super) const COSH: [f64; 7] = [
    f64::from_bits(0x3fe0_0000_0000_0000),
    f64::from_bits(0x3fa5_5555_5555_5555),
    f64::from_bits(0x3f56_c16c_16c1_6c18),
    f64::from_bits(0x3efa_01a0_1a01_92e7),
    f64::from_bits(0x3e92_7e4f_b7c7_18e6),
    f64::from_bits(0x3e21_eed7_1103_b79d),
    f64::from_bits(0x3da9_44c7_538d_dd87),
];

/// 1 / ln(10).
pub(super) const LOG10_E: (f64, f64) =
    (f64::from_bits(0x3fdb_cb7b_1526_e50e), f64::from_bits(0x3c69_5355_baaa_fad3));

/// 1 / ln(2).
pub(super) const LOG2_E_PAIR: (f64, f64) =
    (f64::from_bits(0x3ff7_1547_652b_82fe), f64::from_bits(0x3c77_77d0_ffda_0d24));

/// ln(2).
pub(super) const LN2_PAIR: (f64, f64) =
    (f64::from_bits(0x3fe6_2e42_fefa_39ef), f64::from_bits(0x3c7a_bc9e_3b39_803f));

/// Short inverses c of the middles of 128 intervals of [0.706, 1.412).
#[rustfmt::skip]
pub(super) const LOG_INVERSE: LookupTable = LookupTable {
    name: "log_inverse",
    entries: &[
        0x3ff6_a000_0000_0000, 0x3ff6_8000_0000_0000, 0x3ff6_6000_0000_0000, 0x3ff6_4000_0000_0000,
        0x3ff6_2000_0000_0000, 0x3ff6_0000_0000_0000, 0x3ff5_e000_0000_0000, 0x3ff5_c000_0000_0000,
        0x3ff5_a000_0000_0000, 0x3ff5_8000_0000_0000, 0x3ff5_6000_0000_0000, 0x3ff5_6000_0000_0000,
        0x3ff5_4000_0000_0000, 0x3ff5_2000_0000_0000, 0x3ff5_0000_0000_0000, 0x3ff4_e000_0000_0000,
        0x3ff4_c000_0000_0000, 0x3ff4_a000_0000_0000, 0x3ff4_a000_0000_0000, 0x3ff4_8000_0000_0000,
        0x3ff4_6000_0000_0000, 0x3ff4_4000_0000_0000, 0x3ff4_2000_0000_0000, 0x3ff4_0000_0000_0000,
        0x3ff4_0000_0000_0000, 0x3ff3_e000_0000_0000, 0x3ff3_c000_0000_0000, 0x3ff3_a000_0000_0000,
        0x3ff3_a000_0000_0000, 0x3ff3_8000_0000_0000, 0x3ff3_6000_0000_0000, 0x3ff3_4000_0000_0000,
        0x3ff3_4000_0000_0000, 0x3ff3_2000_0000_0000, 0x3ff3_0000_0000_0000, 0x3ff3_0000_0000_0000,
        0x3ff2_e000_0000_0000, 0x3ff2_c000_0000_0000, 0x3ff2_c000_0000_0000, 0x3ff2_a000_0000_0000,
        0x3ff2_8000_0000_0000, 0x3ff2_6000_0000_0000, 0x3ff2_6000_0000_0000, 0x3ff2_4000_0000_0000,
        0x3ff2_4000_0000_0000, 0x3ff2_2000_0000_0000, 0x3ff2_0000_0000_0000, 0x3ff2_0000_0000_0000,
        0x3ff1_e000_0000_0000, 0x3ff1_c000_0000_0000, 0x3ff1_c000_0000_0000, 0x3ff1_a000_0000_0000,
        0x3ff1_a000_0000_0000, 0x3ff1_8000_0000_0000, 0x3ff1_6000_0000_0000, 0x3ff1_6000_0000_0000,
        0x3ff1_4000_0000_0000, 0x3ff1_4000_0000_0000, 0x3ff1_2000_0000_0000, 0x3ff1_0000_0000_0000,
        0x3ff1_0000_0000_0000, 0x3ff0_e000_0000_0000, 0x3ff0_e000_0000_0000, 0x3ff0_c000_0000_0000,
        0x3ff0_c000_0000_0000, 0x3ff0_a000_0000_0000, 0x3ff0_a000_0000_0000, 0x3ff0_8000_0000_0000,
        0x3ff0_8000_0000_0000, 0x3ff0_6000_0000_0000, 0x3ff0_4000_0000_0000, 0x3ff0_4000_0000_0000,
        0x3ff0_2000_0000_0000, 0x3ff0_2000_0000_0000, 0x3ff0_0000_0000_0000, 0x3ff0_0000_0000_0000,
        0x3fef_c000_0000_0000, 0x3fef_8000_0000_0000, 0x3fef_4000_0000_0000, 0x3fef_0000_0000_0000,
        0x3fee_c000_0000_0000, 0x3fee_8000_0000_0000, 0x3fee_4000_0000_0000, 0x3fee_2000_0000_0000,
        0x3fed_e000_0000_0000, 0x3fed_a000_0000_0000, 0x3fed_6000_0000_0000, 0x3fed_4000_0000_0000,
        0x3fed_0000_0000_0000, 0x3fec_c000_0000_0000, 0x3fec_a000_0000_0000, 0x3fec_6000_0000_0000,
        0x3fec_4000_0000_0000, 0x3fec_0000_0000_0000, 0x3feb_e000_0000_0000, 0x3feb_a000_0000_0000,
        0x3feb_8000_0000_0000, 0x3feb_4000_0000_0000, 0x3feb_2000_0000_0000, 0x3fea_e000_0000_0000,
        0x3fea_c000_0000_0000, 0x3fea_a000_0000_0000, 0x3fea_6000_0000_0000, 0x3fea_4000_0000_0000,
        0x3fea_0000_0000_0000, 0x3fe9_e000_0000_0000, 0x3fe9_c000_0000_0000, 0x3fe9_a000_0000_0000,
        0x3fe9_6000_0000_0000, 0x3fe9_4000_0000_0000, 0x3fe9_2000_0000_0000, 0x3fe9_0000_0000_0000,
        0x3fe8_c000_0000_0000, 0x3fe8_a000_0000_0000, 0x3fe8_8000_0000_0000, 0x3fe8_6000_0000_0000,
        0x3fe8_4000_0000_0000, 0x3fe8_2000_0000_0000, 0x3fe7_e000_0000_0000, 0x3fe7_c000_0000_0000,
        0x3fe7_a000_0000_0000, 0x3fe7_8000_0000_0000, 0x3fe7_6000_0000_0000, 0x3fe7_4000_0000_0000,
        0x3fe7_2000_0000_0000, 0x3fe7_0000_0000_0000, 0x3fe6_e000_0000_0000, 0x3fe6_c000_0000_0000,
    ],
};

/// -ln(c) to 42 binary places.
#[rustfmt::skip]
pub(super) const LOG_HIGH: LookupTable = LookupTable {
    name: "log_high",
    entries: &[
        0xbfd6_2c82_f2b9_c000, 0xbfd5_d1bd_bf58_1000, 0xbfd5_7677_1745_6000, 0xbfd5_1aad_872e_0000,
        0xbfd4_be5f_9577_8000, 0xbfd4_618b_c21c_6000, 0xbfd4_0430_8686_a000, 0xbfd3_a64c_5569_4000,
        0xbfd3_47dd_9a98_8000, 0xbfd2_e8e2_bae1_2000, 0xbfd2_895a_13de_8000, 0xbfd2_895a_13de_8000,
        0xbfd2_2941_fbcf_8000, 0xbfd1_c898_c169_a000, 0xbfd1_675c_abab_a000, 0xbfd1_058b_f9ae_5000,
        0xbfd0_a324_e273_9000, 0xbfd0_4025_94b4_d000, 0xbfd0_4025_94b4_d000, 0xbfcf_b918_6d5e_4000,
        0xbfce_f0ad_cbdc_6000, 0xbfce_2707_6e2b_0000, 0xbfcd_5c21_6b4f_c000, 0xbfcc_8ff7_c79a_a000,
        0xbfcc_8ff7_c79a_a000, 0xbfcb_c286_742d_8000, 0xbfca_f3c9_4e80_c000, 0xbfca_23bc_1fe2_c000,
        0xbfca_23bc_1fe2_c000, 0xbfc9_525a_9cf4_6000, 0xbfc8_7fa0_6520_c000, 0xbfc7_ab89_0210_e000,
        0xbfc7_ab89_0210_e000, 0xbfc6_d60f_e719_e000, 0xbfc5_ff30_70a7_a000, 0xbfc5_ff30_70a7_a000,
        0xbfc5_26e5_e3a1_c000, 0xbfc4_4d2b_6ccb_8000, 0xbfc4_4d2b_6ccb_8000, 0xbfc3_71fc_201e_8000,
        0xbfc2_9552_f820_0000, 0xbfc1_b72a_d52f_6000, 0xbfc1_b72a_d52f_6000, 0xbfc0_d77e_7cd0_8000,
        0xbfc0_d77e_7cd0_8000, 0xbfbf_ec91_31dc_0000, 0xbfbe_2707_6e2b_0000, 0xbfbe_2707_6e2b_0000,
        0xbfbc_5e54_8f5b_c000, 0xbfba_926d_3a4a_c000, 0xbfba_926d_3a4a_c000, 0xbfb8_c345_d631_8000,
        0xbfb8_c345_d631_8000, 0xbfb6_f0d2_8ae5_8000, 0xbfb5_1b07_3f06_0000, 0xbfb5_1b07_3f06_0000,
        0xbfb3_41d7_961b_c000, 0xbfb3_41d7_961b_c000, 0xbfb1_6536_eea3_8000, 0xbfaf_0a30_c011_8000,
        0xbfaf_0a30_c011_8000, 0xbfab_42dd_7119_8000, 0xbfab_42dd_7119_8000, 0xbfa7_7458_f633_0000,
        0xbfa7_7458_f633_0000, 0xbfa3_9e87_b9fe_8000, 0xbfa3_9e87_b9fe_8000, 0xbf9f_829b_0e78_0000,
        0xbf9f_829b_0e78_0000, 0xbf97_b91b_07d6_0000, 0xbf8f_c0a8_b0fc_0000, 0xbf8f_c0a8_b0fc_0000,
        0xbf7f_e02a_6b10_0000, 0xbf7f_e02a_6b10_0000, 0x0000_0000_0000_0000, 0x0000_0000_0000_0000,
        0x3f80_1015_7588_0000, 0x3f90_2056_5893_0000, 0x3f98_4925_28c9_0000, 0x3fa0_415d_89e7_8000,
        0x3fa4_66ae_d42e_0000, 0x3fa8_94aa_149f_8000, 0x3fac_cb73_cddd_8000, 0x3fae_ea31_c006_8000,
        0x3fb1_973b_d146_4000, 0x3fb3_bdf5_a7d2_0000, 0x3fb5_e95a_4d97_8000, 0x3fb7_00d3_0aea_c000,
        0x3fb9_335e_5d59_4000, 0x3fbb_6ac8_8dad_4000, 0x3fbc_8858_01bc_4000, 0x3fbe_c739_830a_0000,
        0x3fbf_e891_39db_c000, 0x3fc1_178e_8227_e000, 0x3fc1_aa2b_7e24_0000, 0x3fc2_d161_0c86_8000,
        0x3fc3_65fc_b015_a000, 0x3fc4_913d_8333_c000, 0x3fc5_27e5_e4a1_c000, 0x3fc6_574e_be8c_2000,
        0x3fc6_f012_8b75_6000, 0x3fc7_898d_8544_4000, 0x3fc8_beaf_eb39_0000, 0x3fc9_5a5a_dcf7_0000,
        0x3fca_93ed_3c8a_e000, 0x3fcb_31d8_575b_c000, 0x3fcb_d087_383b_e000, 0x3fcc_6ffb_c6f0_0000,
        0x3fcd_b13d_b0d4_8000, 0x3fce_530e_ffe7_2000, 0x3fce_f5ad_e4dd_0000, 0x3fcf_991c_6cb3_c000,
        0x3fd0_7138_604d_6000, 0x3fd0_c42d_6761_6000, 0x3fd1_178e_8227_e000, 0x3fd1_6b5c_cbad_0000,
        0x3fd1_bf99_635a_7000, 0x3fd2_1445_6d0e_c000, 0x3fd2_bef0_7cdc_9000, 0x3fd3_14f1_e1d3_6000,
        0x3fd3_6b67_76be_1000, 0x3fd3_c252_7733_3000, 0x3fd4_19b4_23d5_f000, 0x3fd4_718d_c271_c000,
        0x3fd4_c9e0_9e17_3000, 0x3fd5_22ae_0738_a000, 0x3fd5_7bf7_53c8_d000, 0x3fd5_d5bd_df59_6000,
    ],
};

/// What `LOG_HIGH` leaves of -ln(c).
#[rustfmt::skip]
pub(super) const LOG_LOW: LookupTable = LookupTable {
    name: "log_low",
    entries: &[
        0xbd3e_54bd_bd7c_8a98, 0x3d38_d6bd_c9c7_c238, 0x3d36_4ead_9524_d7ca, 0x3d3f_4bd8_db0a_7cc1,
        0x3d3d_7c92_cd9a_d824, 0x3d13_d82f_484c_84cc, 0xbd3f_8ef4_3049_f7d3, 0xbd37_a71c_bcd7_35d0,
        0x3d25_594d_d4c5_8092, 0x3d26_7b1e_99b7_2bd8, 0xbd3a_8d7a_d24c_13f0, 0xbd3a_8d7a_d24c_13f0,
        0x3d3a_6976_f5eb_0963, 0x3d38_1410_e5c6_2aff, 0xbd38_380e_731f_55c4, 0x3d34_ab9d_817d_52cd,
        0xbd0c_6bee_7ef4_030e, 0xbcf0_36b8_9ef4_2d7f, 0xbcf0_36b8_9ef4_2d7f, 0x3d0d_572a_ab99_3c87,
        0x3d2b_26b7_9c86_af24, 0x3d3a_342c_2af0_003c, 0x3d21_ba91_bbca_681b, 0x3d27_794f_689f_8434,
        0x3d27_794f_689f_8434, 0xbd39_ac53_f39d_121c, 0x3cba_4e63_3fcd_9066, 0x3d35_39cd_91dc_9f0b,
        0x3d35_39cd_91dc_9f0b, 0x3d32_9713_7d9f_158f, 0xbd32_2120_4012_02fc, 0x3d2b_db90_7253_4a58,
        0x3d2b_db90_7253_4a58, 0x3d3b_c6e5_5713_4767, 0x3d38_586f_183b_ebf2, 0x3d38_586f_183b_ebf2,
        0x3d37_90ba_37fc_5238, 0x3d17_0cc1_6135_783c, 0x3d17_0cc1_6135_783c, 0xbd3e_e877_9b2d_8abc,
        0x3d35_b967_f447_1dfc, 0xbd2e_80a4_1811_a396, 0xbd2e_80a4_1811_a396, 0xbd3c_b2cd_2ee2_f482,
        0xbd3c_b2cd_2ee2_f482, 0x3d35_4555_d1ae_6607, 0x3d2a_342c_2af0_003c, 0x3d2a_342c_2af0_003c,
        0xbd1d_0c57_585f_be06, 0xbd35_6365_0bd2_2a9c, 0xbd35_6365_0bd2_2a9c, 0xbd3b_20f5_acb4_2a66,
        0xbd3b_20f5_acb4_2a66, 0x3d34_b464_1b66_4613, 0xbd38_3f69_278e_686a, 0xbd38_3f69_278e_686a,
        0xbd31_d092_9983_7610, 0xbd31_d092_9983_7610, 0x3d14_7c5e_768f_a309, 0x3d2d_599e_8336_8e91,
        0x3d2d_599e_8336_8e91, 0x3d1c_827a_e5d6_704c, 0x3d1c_827a_e5d6_704c, 0x3d31_81dc_e586_af09,
        0x3d31_81dc_e586_af09, 0xbd3e_afd4_80ad_9015, 0xbd3e_afd4_80ad_9015, 0xbd29_8026_7c7e_09e4,
        0xbd29_8026_7c7e_09e4, 0x3d33_b955_b602_ace4, 0xbcdf_1e7c_f6d3_a69c, 0xbcdf_1e7c_f6d3_a69c,
        0xbd19_e23f_0dda_40e4, 0xbd19_e23f_0dda_40e4, 0x0000_0000_0000_0000, 0x0000_0000_0000_0000,
        0x3d3b_ce25_1998_b506, 0x3d36_11d2_7c8e_8417, 0xbd2a_a0ba_325a_0c34, 0xbd3d_ddc7_f461_c516,
        0xbd2c_1673_75bd_fd28, 0x3d39_a19a_8be9_7661, 0x3d39_65c3_6e09_f5fe, 0x3d3c_3dd8_3606_d891,
        0x3d35_66d1_54f9_30b3, 0xbd31_9bd0_ad12_5895, 0x3d31_cb7c_e1d1_7171, 0x3cec_1e8d_a99d_ed32,
        0x3d23_115c_3abd_47da, 0x3d3b_1bdf_f502_25c7, 0x3d26_46d1_c65a_acd3, 0x3d31_1fcb_a80c_dd10,
        0x3d35_6594_d82f_7a82, 0x3d21_ef78_ce2d_07f2, 0xbd31_ac38_dde3_b366, 0x3d03_9d6c_cb81_b4a1,
        0xbd3f_d3a0_afb9_691b, 0xbd35_3e43_5581_24c4, 0xbd34_e60b_8d4b_411d, 0xbd39_8c1d_34f0_f462,
        0x3d35_7739_0d31_ef0f, 0x3d38_e67b_e3db_af3f, 0xbd07_3d54_aae9_2cd1, 0x3d07_f228_58a0_ff6f,
        0xbd28_7243_5056_2169, 0x3d3c_794e_562a_63cb, 0xbd2d_4bc4_5954_12b6, 0x3d3e_e138_d3a6_9d43,
        0x3d32_806a_8475_27e6, 0xbd3f_dbdb_b13f_7c18, 0xbcca_2115_65bb_8e11, 0xbd39_0d04_cd7c_c834,
        0xbd3e_7632_4e91_2b17, 0x3d27_188b_163c_eae9, 0x3d31_ef78_ce2d_07f2, 0xbd32_3299_042d_74bf,
        0xbd31_ac89_575c_2125, 0xbd3c_af04_28b7_28a3, 0x3d2a_9cfa_4a50_04f4, 0xbd28_e27a_d321_3cb8,
        0x3d11_6ecd_b0f1_77c8, 0x3d18_3b54_b606_bd5c, 0xbd3c_e379_226d_e3ec, 0x3d30_6c18_fb4c_14c5,
        0xbd2e_2089_1b0a_d8a4, 0x3d2e_be70_8164_c759, 0x3d1f_aded_ee5d_40ef, 0xbd0a_0b2a_08a4_65dc,
    ],
};

/// (ln(1 + r) - r + r^2 / 2) / r^3 for |r| <= 0.0058.
pub(super) const LOG: [f64; 7] = [
    f64::from_bits(0x3fd5_5555_5555_5555),
    f64::from_bits(0xbfd0_0000_0000_0007),
    f64::from_bits(0x3fc9_9999_9999_99a6),
    f64::from_bits(0xbfc5_5555_5521_01f0),
    f64::from_bits(0x3fc2_4924_9219_92ee),
    f64::from_bits(0xbfc0_0030_6ade_e9a5),
    f64::from_bits(0x3fbc_721f_2495_c25c),
];

/// (ln(1 + r) - r) / r^2 for |r| <= 0.0058.
pub(super) const LOG_SHORT: [f64; 6] = [
    f64::from_bits(0xbfe0_0000_0000_0001),
    f64::from_bits(0x3fd5_5555_5555_5558),
    f64::from_bits(0xbfcf_ffff_ffd5_f3ea),
    f64::from_bits(0x3fc9_9999_9974_3984),
    f64::from_bits(0xbfc5_5589_357d_6d2e),
    f64::from_bits(0x3fc2_4952_aee0_9901),
];

/// 2 / pi.
pub(super) const TWO_OVER_PI: f64 = f64::from_bits(0x3fe4_5f30_6dc9_c883);

/// pi / 2 in three parts.
pub(super) const HALF_PI: [f64; 3] = [
    f64::from_bits(0x3ff9_21fb_5444_2d18),
    f64::from_bits(0x3c91_a626_3314_5c07),
    f64::from_bits(0xb91f_1976_b7ed_8fbc),
];

/// (sin(r) - r) / r^3 in r^2 for |r| <= pi / 4.
pub(super) const SIN: [f64; 7] = [
    f64::from_bits(0xbfc5_5555_5555_5555),
    f64::from_bits(0x3f81_1111_1111_1110),
    f64::from_bits(0xbf2a_01a0_1a01_9936),
    f64::from_bits(0x3ec7_1de3_a546_05ee),
    f64::from_bits(0xbe5a_e645_4126_6378),
    f64::from_bits(0x3de6_1217_ec01_749d),
    f64::from_bits(0xbd6a_b17a_7923_7a19),
];

/// (cos(r) - 1 + r^2 / 2) / r^4 in r^2 for |r| <= pi / 4.
pub(super) const COS: [f64; 7] = [
    f64::from_bits(0x3fa5_5555_5555_5555),
    f64::from_bits(0xbf56_c16c_16c1_6c16),
    f64::from_bits(0x3efa_01a0_1a01_9d0a),
    f64::from_bits(0xbe92_7e4f_b771_2bdf),
    f64::from_bits(0x3e21_eed8_deb6_d561),
    f64::from_bits(0xbda9_394b_9c9c_20a4),
    f64::from_bits(0x3d2a_b783_3769_62cf),
];

/// The first 1280 bits of 2 / pi after the binary point.
#[rustfmt::skip]
pub(super) const TWO_OVER_PI_BITS: LookupTable = LookupTable {
    name: "two_over_pi_bits",
    entries: &[
        0x0000_0000_0000_0000, 0xa2f9_836e_4e44_1529, 0xfc27_57d1_f534_ddc0, 0xdb62_9599_3c43_9041,
        0xfe51_63ab_debb_c561, 0xb724_6e3a_424d_d2e0, 0x0649_2eea_09d1_921c, 0xfe1d_eb1c_b129_a73e,
        0xe882_35f5_2ebb_4484, 0xe99c_7026_b45f_7e41, 0x3991_d639_8353_39f4, 0x9c84_5f8b_bdf9_283b,
        0x1ff8_97ff_de05_980f, 0xef2f_118b_5a0a_6d1f, 0x6d36_7ecf_27cb_09b7, 0x4f46_3f66_9e5f_ea2d,
        0x7527_bac7_ebe5_f17b, 0x3d07_39f7_8a52_92ea, 0x6bfb_5fb1_1f8d_5d08, 0x5603_3046_fc7b_6bab,
        0xf0cf_bc20_9af4_361d,
    ],
};

/// (asin(s) - s) / s^3 in s^2 for s <= 1/2.
pub(super) const ASIN: [f64; 14] = [
    f64::from_bits(0x3fc5_5555_5555_5555),
    f64::from_bits(0x3fb3_3333_3333_3388),
    f64::from_bits(0x3fa6_db6d_b6da_c1c7),
    f64::from_bits(0x3f9f_1c71_c7a5_3dc4),
    f64::from_bits(0x3f96_e8ba_123a_d37c),
    f64::from_bits(0x3f91_c4ef_ce87_3222),
    f64::from_bits(0x3f8c_990a_c55b_530c),
    f64::from_bits(0x3f87_b028_a13e_ab06),
    f64::from_bits(0x3f83_b498_006c_bcc7),
    f64::from_bits(0x3f83_1644_56bb_eec3),
    f64::from_bits(0x3f68_ef81_e87a_123c),
    f64::from_bits(0x3f94_06be_bb65_3912),
    f64::from_bits(0xbf93_b507_57ac_7f76),
    f64::from_bits(0x3f9e_5336_d3c9_f48b),
];

/// (atan(t) - t) / t^3 in t^2 for |t| <= 1/16.
pub(super) const ATAN: [f64; 6] = [
    f64::from_bits(0xbfd5_5555_5555_5555),
    f64::from_bits(0x3fc9_9999_9999_994c),
    f64::from_bits(0xbfc2_4924_9245_a220),
    f64::from_bits(0x3fbc_71c6_fe93_93b1),
    f64::from_bits(0xbfb7_4597_fabf_7ef2),
    f64::from_bits(0x3fb3_7e32_b338_7e3e),
];

/// atan(i / 8).
#[rustfmt::skip]
pub(super) const ATAN_HIGH: LookupTable = LookupTable {
    name: "atan_high",
    entries: &[
        0x0000_0000_0000_0000, 0x3fbf_d5ba_9aac_2f6e, 0x3fcf_5b75_f92c_80dd, 0x3fd6_f619_41e4_def1,
        0x3fdd_ac67_0561_bb4f, 0x3fe1_e00b_abde_feb4, 0x3fe4_978f_a326_9ee1, 0x3fe7_00a7_c578_4634,
        0x3fe9_21fb_5444_2d18,
    ],
};

/// What `ATAN_HIGH` leaves of atan(i / 8).
#[rustfmt::skip]
pub(super) const ATAN_LOW: LookupTable = LookupTable {
    name: "atan_low",
    entries: &[
        0x0000_0000_0000_0000, 0xbc4c_d376_8676_0c17, 0x3c68_ab6e_3cf7_afbd, 0xbc7c_63aa_e6f6_e918,
        0x3c7a_2b7f_222f_65e2, 0xbc59_28df_287a_668f, 0x3c72_419a_87f2_a458, 0xbc78_c34d_25aa_def6,
        0x3c81_a626_3314_5c07,
    ],
};

/// Coefficients of erf around i / 8: the first two in two parts each.
#[rustfmt::skip]
pub(super) const ERF: [LookupTable; 14] = [
    LookupTable {
        name: "erf_0",
        entries: &[
            0x0000_0000_0000_0000, 0x3fc1_f5e1_a35c_3b89, 0x3fd1_af54_e232_d609, 0x3fd9_dd0d_2b72_1f39,
            0x3fe0_a7ef_5c18_edd2, 0x3fe3_f196_dcd0_f135, 0x3fe6_c1c9_759d_0e5f, 0x3fe9_1724_951b_8fc6,
            0x3fea_f767_a741_088b, 0x3fec_6dad_2829_ec62, 0x3fed_8865_d98a_be01, 0x3fee_5768_c3b4_a3fc,
            0x3fee_ea55_5713_7ae0, 0x3fef_4f69_3b67_bd77, 0x3fef_92d0_77f8_d56d, 0x3fef_be61_eef4_cf6a,
            0x3fef_d9ae_1427_95e3, 0x3fef_ea42_18d6_594a, 0x3fef_f404_7603_19b4, 0x3fef_f996_0f3e_b327,
            0x3fef_fcaa_8f4c_9bea, 0x3fef_fe51_4bbd_c197, 0x3fef_ff2c_fb04_53d9, 0x3fef_ff9b_a420_e834,
            0x3fef_ffd1_ac41_35f9, 0x3fef_ffeb_3ebb_267b, 0x3fef_fff6_f9f6_7e55, 0x3fef_fffc_316d_9ed0,
            0x3fef_fffe_710d_565e, 0x3fef_ffff_618c_3da6, 0x3fef_ffff_c2f1_71e3, 0x3fef_ffff_e92c_ed93,
            0x3fef_ffff_f7b9_1176, 0x3fef_ffff_fd16_9d0c, 0x3fef_ffff_ff01_a8b6, 0x3fef_ffff_ffab_d229,
            0x3fef_ffff_ffe4_fa30, 0x3fef_ffff_fff7_9626, 0x3fef_ffff_fffd_759d, 0x3fef_ffff_ffff_4188,
            0x3fef_ffff_ffff_c9e8, 0x3fef_ffff_ffff_f11a, 0x3fef_ffff_ffff_fc05, 0x3fef_ffff_ffff_fef8,
            0x3fef_ffff_ffff_ffbe, 0x3fef_ffff_ffff_fff0, 0x3fef_ffff_ffff_fffc, 0x3fef_ffff_ffff_ffff,
        ],
    },
    LookupTable {
        name: "erf_1",
        entries: &[
            0x0000_0000_0000_0000, 0x3c6d_0b3c_9682_a0ed, 0xbc7b_eeb9_7ecc_d914, 0xbc71_6743_a5d1_5482,
            0x3c75_e7ef_bd55_9045, 0xbc7f_25fa_671d_4b36, 0x3c8b_143a_0658_0aa3, 0xbc82_7905_fee4_e7bb,
            0xbc7c_97dc_c6d6_0d8c, 0xbc6a_b747_8183_6787, 0xbc8f_cec1_292f_3bb1, 0x3c68_b61e_d483_bd03,
            0xbc83_85e9_73c9_60a9, 0xbc73_a1f9_d0ba_14e2, 0x3c78_b555_c991_1051, 0x3c81_5deb_1f4a_337d,
            0x3c79_727f_648b_2062, 0xbc5e_332b_dd1c_6fd3, 0x3c7f_1423_77ec_b451, 0xbc70_8b19_e01d_72c0,
            0x3c8b_0cef_06c4_3e5c, 0xbc5c_d95f_a045_6ce7, 0x3c89_a913_7ae0_e3cb, 0x3c71_379e_803d_cb0b,
            0x3c8e_eaf9_eb0f_c623, 0x3c6e_47f5_dc81_aaf7, 0x3c8e_1e44_6328_47bc, 0xbc88_b32f_5733_22a6,
            0x3c8c_9ea5_25db_3288, 0xbc51_9309_d8c1_9af5, 0x3c88_5edd_051e_7617, 0xbc8d_2db2_eab2_4535,
            0x3c70_b286_5a31_84c0, 0x3c87_0a2b_fc85_2859, 0x3c32_3371_0b43_85f0, 0xbc64_dbe4_99b1_f632,
            0x3c6d_166b_cc9b_3b22, 0x3c85_fbc5_2d8b_b2a5, 0x3c8f_7bee_7ec4_864d, 0x3c87_a2cb_3d0d_a54c,
            0xbc7a_759f_7731_95c3, 0xbc73_eafc_cbc4_13c7, 0x3c80_7ba9_6a6b_ba2a, 0x3c71_4be6_2264_6a37,
            0xbc81_82b3_26b2_1696, 0xbc72_0ef3_618f_20f4, 0x3c78_115f_d1b1_2b8a, 0x3c70_4393_97b5_f84a,
        ],
    },
    LookupTable {
        name: "erf_2",
        entries: &[
            0x3ff2_0dd7_5042_9b6d, 0x3ff1_c62f_a1e8_69b6, 0x3ff0_f5d1_602f_7e41, 0x3fef_5f0c_daf1_5313,
            0x3fec_1efc_a49a_5011, 0x3fe8_6e96_9413_4b9e, 0x3fe4_92e4_2d78_d2c5, 0x3fe0_cab6_1f08_4b93,
            0x3fda_911f_096f_bc26, 0x3fd4_5e99_bcbb_7915, 0x3fce_4652_fadc_b6b2, 0x3fc5_ce59_5c45_5b0a,
            0x3fbe_7237_26b8_24a9, 0x3fb4_99d4_78bc_a735, 0x3fab_0553_0322_1015, 0x3fa1_2ceb_37ff_9bc3,
            0x3f95_29b9_e8cf_9a1e, 0x3f89_4624_e78e_0faf, 0x3f7d_4143_a9df_e965, 0x3f70_6918_b635_5624,
            0x3f61_d831_70fb_f6fb, 0x3f52_ce89_8809_244e, 0x3f43_360c_cd23_db3a, 0x3f33_0538_fbb7_7ecd,
            0x3f22_408e_9ba3_327f, 0x3f10_f9e1_b4dd_36df, 0x3efe_9b5e_8d00_ce77, 0x3eea_be09_e914_4b5e,
            0x3ed6_a597_219a_93da, 0x3ec2_96a7_0f41_4053, 0x3ead_9371_e2ff_7c35, 0x3e96_ce1a_a3fd_7bdd,
            0x3e81_0b14_88ae_b235, 0x3e68_b0cf_ce05_79e0, 0x3e51_55a0_9065_d4f7, 0x3e37_974e_743d_ea3d,
            0x3e1f_1e35_23b4_1d7d, 0x3e03_e44e_4530_1b92, 0x3de8_a617_45ec_7d1d, 0x3dcd_9a88_0f30_6bd8,
            0x3db1_3af4_f04f_9998, 0x3d93_70ab_8327_af5d, 0x3d75_422e_f5d8_949c, 0x3d56_8823_e529_70bd,
            0x3d37_2586_10b3_b231, 0x3d17_0bea_f9c7_ffb4, 0x3cf6_3daf_8b4b_1e09, 0x3cd4_cd9c_0415_8cd4,
        ],
    },
    LookupTable {
        name: "erf_3",
        entries: &[
            0x3c71_ae3a_914f_ed80, 0x3c8c_e68a_2227_9bb8, 0xbc83_e419_eeb9_1112, 0x3c3d_ff71_a1b2_9760,
            0x3c84_c087_876a_d7fe, 0xbc83_bd9a_8d95_9264, 0xbc88_bd33_5c81_d652, 0x3c70_98a8_f290_9189,
            0xbc70_86a3_1d70_f2f6, 0x3c77_bcc9_79db_bf51, 0xbc2e_95f6_9643_018d, 0x3c4c_3147_7dc5_539e,
            0xbc42_2044_cb08_93a7, 0x3c33_1c4a_e087_216b, 0x3c4c_bab1_8c81_6319, 0x3c4a_3b21_3eda_59b8,
            0x3c2b_4804_3532_7089, 0xbc24_1840_33ab_019f, 0xbc06_eeac_cf0e_4a5f, 0x3c12_1b2b_73e3_988d,
            0x3c0e_a317_064a_c6cc, 0x3bf0_9226_4069_e4ec, 0x3ba3_9297_99af_e711, 0x3ba8_c0d3_80c5_b242,
            0xbbc7_e1fa_6135_9950, 0xbb83_f7ce_0b79_0f8c, 0xbb9c_b734_7fb9_1077, 0x3b83_1011_a876_9b6b,
            0xbb7c_b53d_a157_f2f3, 0x3b50_4c52_b8d9_9f0d, 0x3b40_be8c_8008_efc8, 0x3afc_1457_57ff_6278,
            0xbaee_078d_6e94_a599, 0xbb0e_e76d_5f4c_ded6, 0xbae8_f1b0_17a5_b53b, 0xbadc_f99a_e1f7_ae27,
            0xbabb_0cd2_f666_e7ca, 0x3a9a_c379_2b65_5449, 0x3a60_b6f2_15ff_86ca, 0xba61_be72_5764_fbac,
            0xba5f_73c5_ee4a_b4ac, 0x3a34_57c6_23cb_5f2a, 0x3a1e_0a57_eea5_70b4, 0x39ce_1b68_66d9_2422,
            0x39dd_c341_99da_5d0a, 0xb9a3_a0e4_7fbf_15c7, 0x398d_986b_b302_2fa4, 0xb974_850a_7a43_c792,
        ],
    },
    LookupTable {
        name: "erf_4",
        entries: &[
            0x0000_0000_0000_0000, 0xbfc1_c62f_a1e8_69b6, 0xbfd0_f5d1_602f_7e41, 0xbfd7_8749_a434_fe4e,
            0xbfdc_1efc_a49a_5011, 0xbfde_8a3c_3918_1e85, 0xbfde_dc56_4435_3c27, 0xbfdd_62be_b64e_8442,
            0xbfda_911f_096f_bc26, 0xbfd6_ea6c_f452_e838, 0xbfd2_ebf3_dcc9_f22f, 0xbfcd_fbba_dedf_5d2e,
            0xbfc6_d5a9_5d0a_1b7f, 0xbfc0_bcfc_a219_47db, 0xbfb7_a4a8_a2bd_ce13, 0xbfb0_1a1c_847f_a207,
            0xbfa5_29b9_e8cf_9a1e, 0xbf9a_da87_3606_f0aa, 0xbf90_74b6_0f8d_f349, 0xbf83_7ccd_585f_564b,
            0xbf76_4e3d_cd3a_f4bb, 0xbf68_af14_828b_ffa7, 0xbf5a_6a51_9a11_4d70, 0xbf4b_5781_e9d7_c646,
            0xbf3b_60d5_e974_cbbc, 0xbf2a_8670_aa99_a5b9, 0xbf18_de3c_d290_a7bc, 0xbf06_9058_5ca9_1f92,
            0xbef3_d0e4_3d67_415a, 0xbee0_d887_65d3_224a, 0xbecb_ba3a_c4cf_8479, 0xbeb6_17a9_cedd_9013,
            0xbea1_0b14_88ae_b25a, 0xbe89_7656_4c75_a61a, 0xbe72_6afa_996c_32d0, 0xbe59_cd7d_cf23_b972,
            0xbe41_80fd_e415_51ef, 0xbe26_fffa_7fff_a297, 0xbe0d_453b_a308_d9b6, 0xbdf2_0a2a_e941_8653,
            0xbdd5_89b2_2c63_87d5, 0xbdb8_e85b_c00a_e564, 0xbd9b_e6dd_a2ac_56b0, 0xbd7e_46f0_3bef_cc7f,
            0xbd5f_d398_56f7_3e02, 0xbd40_3461_37a0_bb8b, 0xbd1f_f8ac_583c_4341, 0xbcfe_8dfd_2600_00af,
        ],
    },
    LookupTable {
        name: "erf_5",
        entries: &[
            0xbfd8_1274_6b03_79e7, 0xbfd6_f552_dbcc_3336, 0xbfd3_c974_458c_bdf6, 0xbfce_106c_51d1_ef9d,
            0xbfc2_bf53_1866_e00c, 0xbfac_8105_0216_82e3, 0x3f9b_6e85_91f6_6e5b, 0x3fb7_c9d7_56a1_15bb,
            0x3fc1_b614_b0f5_2819, 0x3fc4_cb3c_f0aa_0b9b, 0x3fc5_71d0_1c5c_56be, 0x3fc4_374d_82e0_4c67,
            0x3fc1_c2a0_2beb_6ab8, 0x3fbd_6631_e1a2_8e9e, 0x3fb7_148c_3d57_c312, 0x3fb1_43d1_c6f4_f093,
            0x3fa8_b0ae_3a47_8923, 0x3fa0_ea47_5da3_be7f, 0x3f96_3ef6_1e82_4425, 0x3f8c_1ec1_02e3_64f1,
            0x3f81_19da_0c46_ccb1, 0x3f74_07fb_d18f_1201, 0x3f66_9cf4_66cc_df62, 0x3f58_9e17_c074_d373,
            0x3f49_db74_b1d1_dcde, 0x3f3a_3737_e2a2_f2bc, 0x3f29_aa48_9e3c_ad20, 0x3f18_4522_fe88_15bb,
            0x3f06_2cce_a63c_b0c4, 0x3ef3_94b1_fa67_116b, 0x3ee0_b6a7_b0f1_b585, 0x3ecb_95fa_39b3_9f7f,
            0x3eb6_03a5_308c_50dc, 0x3ea0_fdac_559b_6f64, 0x3e89_5ea6_fdff_b3c4, 0x3e72_52af_6f48_c18b,
            0x3e59_9b86_6561_8ddf, 0x3e41_508f_768e_b5a2, 0x3e26_a8ae_ba47_664b, 0x3e0c_b2a2_e564_1c62,
            0x3df1_96da_0aa6_9885, 0x3dd4_deca_cbf8_71ea, 0x3db7_f8a0_f3e2_3a85, 0x3d9a_a761_20eb_34be,
            0x3d7c_b12e_2f5e_c640, 0x3d5d_e74c_0dc3_b50c, 0x3d3e_2d06_d6fd_4ccb, 0x3d1d_7c14_9fc9_f0d5,
        ],
    },
    LookupTable {
        name: "erf_6",
        entries: &[
            0x0000_0000_0000_0000, 0x3fb1_96c9_cd8d_f8f9, 0x3fc0_40e8_a6d8_2a51, 0x3fc5_529a_bcd0_026d,
            0x3fc7_6f27_de80_9563, 0x3fc6_963c_8a39_d605, 0x3fc3_49b5_eaa1_4709, 0x3fbc_c605_67d7_9169,
            0x3fb1_b614_b0f5_2d8a, 0x3f9c_a508_3167_b1ad, 0xbf79_3a9a_7bb7_d697, 0xbf9f_3b8d_52d3_5981,
            0xbfa6_d5a9_5d0a_1fb7, 0xbfa9_74c0_3686_7766, 0xbfa8_a0da_5430_6510, 0xbfa5_a316_520b_83b1,
            0xbfa1_a2c5_9757_ab63, 0xbf9a_fe55_3fa4_4d9f, 0xbf93_8a98_3278_8e6f, 0xbf8a_e596_15f8_e694,
            0xbf81_a89b_97ce_a958, 0xbf76_2d4c_6d49_c4c5, 0xbf6a_b0c2_73ac_254d, 0xbf5e_d4ac_7dae_a7c8,
            0xbf51_1c85_b1e9_049c, 0xbf42_4544_f02d_33fe, 0xbf32_c7d5_ef05_4bf6, 0xbf22_98f8_d45f_73e9,
            0xbf11_c077_21ac_8c4b, 0xbf00_5760_ad1b_d3ed, 0xbeed_06f5_8609_2aa8, 0xbed8_e1fc_4153_4ff4,
            0xbec4_980e_2528_0184, 0xbeb0_7600_ca6d_72af, 0xbe99_6ba7_366a_70ca, 0xbe82_f735_4e69_9b13,
            0xbe6b_598c_b45d_64a5, 0xbe53_0fd0_c666_6aca, 0xbe39_b017_abb7_9de7, 0xbe20_bc6e_cf5f_9428,
            0xbe05_16d3_cb6b_5d8c, 0xbde9_b3c5_57ee_0ff8, 0xbdce_4cb4_ae8a_872b, 0xbdb1_46fa_eb73_f305,
            0xbd93_1011_e94e_34fa, 0xbd74_59c8_1733_e422, 0xbd55_05d9_5325_bc6d, 0xbd35_0429_def6_fbbc,
        ],
    },
    LookupTable {
        name: "erf_7",
        entries: &[
            0x3fbc_e2f2_1a04_2a2a, 0x3fba_aba6_23e1_2152, 0x3fb4_7e5c_fee4_0ce3, 0x3fa7_488b_8a7f_1d7b,
            0x3f7d_feeb_5a3e_5859, 0xbf9c_1242_dfff_ba30, 0xbfab_42a1_890c_dff3, 0xbfb1_350f_4b22_29fd,
            0xbfb1_b614_b0f5_289b, 0xbfaf_65d1_5f1c_fb87, 0xbfa8_281c_e0b3_52ae, 0xbf9f_572c_4c8c_7f97,
            0xbf8e_7237_26b8_2892, 0xbf61_7d43_0bd5_7a42, 0x3f7b_2225_7dd0_19fd, 0x3f87_79b1_e570_4852,
            0x3f8a_ce74_04c2_b5af, 0x3f89_973b_489f_a3fa, 0x3f85_d3b1_7bbe_0f6d, 0x3f81_1dae_4735_0d2f,
            0x3f79_0e81_283f_a8c4, 0x3f71_46c4_b3e2_8a76, 0x3f66_9359_6066_4b1d, 0x3f5c_11f2_7065_c82d,
            0x3f50_a7b5_546b_510f, 0x3f42_e7e7_63d3_388b, 0x3f34_90a4_d230_ee8a, 0x3f25_7757_7885_fec4,
            0x3f15_86ba_fc9b_a0f2, 0x3f04_c1fe_48a5_b323, 0x3ef3_436b_c9fc_4d60, 0x3ee1_3717_2180_1482,
            0x3ecd_a5f1_0dc5_2bd7, 0x3eb8_9ca7_745e_2202, 0x3ea3_b468_019b_9578, 0x3e8e_7102_f88a_0612,
            0x3e76_b1ba_f455_dedc, 0x3e60_5563_283d_34de, 0x3e46_b43c_952e_64c3, 0x3e2e_7ba5_7669_4f88,
            0x3e13_c51d_0aa7_2f07, 0x3df8_c78e_447b_d6a5, 0x3dde_044b_3ea9_1af0, 0x3dc1_92d3_b257_1454,
            0x3da3_e4a1_f88c_b5fa, 0x3d85_c5ee_401c_50f4, 0x3d67_0b70_1152_13b4, 0x3d47_96a3_a032_b9df,
        ],
    },
    LookupTable {
        name: "erf_8",
        entries: &[
            0x0000_0000_0000_0000, 0xbf97_34ea_6970_e91a, 0xbfa4_c0b2_53a6_37aa, 0xbfa9_a794_5c93_bbe7,
            0xbfa9_9f13_b23d_09ed, 0xbfa5_2b26_68de_f5b9, 0xbf9b_8477_969c_45af, 0xbf85_3bb4_a661_c62b,
            0x3f72_e45a_54e8_ab1a, 0x3f8f_d1c6_c09b_d423, 0x3f95_d000_3ade_9444, 0x3f96_b16f_52d2_c4a7,
            0x3f93_ca3d_72e8_6808, 0x3f8d_857f_2c9d_2c22, 0x3f82_5b37_8cd2_37ff, 0x3f70_d099_c7f5_77a7,
            0x3f3e_1935_eb02_227d, 0xbf5d_d78e_e1c2_ce28, 0xbf67_cae0_d4af_08df, 0xbf69_82b2_7505_1950,
            0xbf66_ecdb_f6b0_c21c, 0xbf62_67f3_bc57_846f, 0xbf5b_2755_bfdf_383c, 0xbf52_add1_ce68_3299,
            0xbf48_2f23_5ad8_306d, 0xbf3d_a496_e4e4_73c5, 0xbf31_4546_4e6a_1373, 0xbf23_30aa_b73e_08cc,
            0xbf14_6153_fb63_db7a, 0xbf04_b982_0325_d7c7, 0xbef4_357b_5571_73f6, 0xbee2_eb29_0b97_8869,
            0xbed1_0505_3850_e57f, 0xbebd_73aa_50e1_d6e8, 0xbea8_868e_2078_f989, 0xbe93_ab0b_12e6_6151,
            0xbe7e_650e_3ca3_f217, 0xbe66_a3a9_dd06_a530, 0xbe50_42f2_ae54_1241, 0xbe36_8934_84ee_f3d0,
            0xbe1e_2358_8657_647a, 0xbe03_73cd_81e0_1e6e, 0xbde8_3ea4_d87c_057c, 0xbdcd_2eab_135f_a7ba,
            0xbdb0_f6e8_bc81_8cb8, 0xbd93_0e3d_ebde_2762, 0xbd74_aed6_ba3f_7498, 0xbd55_b228_5d0e_c65e,
        ],
    },
    LookupTable {
        name: "erf_9",
        entries: &[
            0xbf9b_82ce_3102_343c, 0xbf98_9258_e75c_65d2, 0xbf90_8d94_6ccb_35ba, 0xbf76_5c10_b876_b521,
            0x3f76_23c6_1753_4407, 0x3f8c_7cd9_c16e_6006, 0x3f92_e0af_b098_89fa, 0x3f93_0ac2_192a_884b,
            0x3f8f_096f_d714_396d, 0x3f83_acc7_844e_a623, 0x3f6d_b43c_97f4_e019, 0xbf57_3ffa_9a50_63cb,
            0xbf73_6d73_a5fc_73b0, 0xbf79_54ab_0f5f_7b2b, 0xbf78_d10f_b6d8_c44f, 0xbf74_2fcb_aaac_6785,
            0xbf6b_ae0a_ba15_3a22, 0xbf5e_a03b_b288_0aae, 0xbf45_f831_3b83_bf09, 0x3f20_283e_0c3b_6aa3,
            0x3f41_c610_bcff_5f84, 0x3f46_4f89_1b4a_2db6, 0x3f45_2b62_6418_9671, 0x3f41_51f7_855b_e7eb,
            0x3f39_98b4_7c69_2f5c, 0x3f31_76cf_6635_9ccd, 0x3f26_47f7_21a0_c018, 0x3f1a_c999_7d99_a4a4,
            0x3f0e_827f_af62_973b, 0x3f00_85c0_f7fc_e6f1, 0x3ef1_10de_49a5_68d4, 0x3ee0_d8c3_5cac_4817,
            0x3ecf_d7c6_5718_5ef5, 0x3ebc_d9e0_d991_6111, 0x3ea9_16e9_2409_2e93, 0x3e94_f610_85d4_f122,
            0x3e80_d678_fa08_16f7, 0x3e6a_06fc_a25b_6faa, 0x3e53_5dc8_355d_7ced, 0x3e3b_c2ac_4310_41a0,
            0x3e23_2c72_96fb_f511, 0x3e09_88ab_2786_b655, 0x3df0_6595_9403_5436, 0x3dd4_50d4_bf2d_a2a7,
            0x3db8_4a4e_2469_ebfc, 0x3d9c_0877_c282_51c0, 0x3d7f_3c59_5102_4ce2, 0x3d60_ce14_f5eb_c302,
        ],
    },
    LookupTable {
        name: "erf_10",
        entries: &[
            0x0000_0000_0000_0000, 0x3f76_f67f_3610_caae, 0x3f83_db6d_ed32_b1c9, 0x3f87_09a9_50e4_8d96,
            0x3f84_93d3_233d_8665, 0x3f7b_62f4_1659_1f1e, 0x3f62_db36_2279_0c75, 0xbf5e_3f42_5e91_a172,
            0xbf73_9111_a404_f0b3, 0xbf78_b43a_4c22_adc1, 0xbf77_5672_12ca_9fd7, 0xbf71_7404_da2d_c5ec,
            0xbf63_5ae7_0c04_f37c, 0xbf42_e448_b6c3_98ea, 0x3f47_ec15_7a28_b18e, 0x3f57_6ff3_7ba8_60e0,
            0x3f5a_1142_f917_897d, 0x3f56_aa2c_e086_9345, 0x3f50_602f_767b_9599, 0x3f43_77c6_a31e_6f4e,
            0x3f31_1555_017a_cde8, 0x3f02_29fa_f7c9_36ac, 0xbf17_5576_3008_7042, 0xbf21_c640_dba1_0fce,
            0xbf21_aa5f_7c5a_13f2, 0xbf1d_2ac9_365c_39aa, 0xbf15_6749_4eb0_612e, 0xbf0c_c159_71e2_53cf,
            0xbf01_f631_1899_e803, 0xbef5_10a4_06fb_c871, 0xbee7_566b_4b3d_5442, 0xbed8_8854_b996_e8c9,
            0xbec8_8c77_89ca_3ec3, 0xbeb7_7106_6663_f9ec, 0xbea5_66e9_bc98_0074, 0xbe92_b62a_8f76_a1e0,
            0xbe7f_5f21_b982_1aa0, 0xbe69_3e16_75ed_db88, 0xbe53_833f_0c8d_bc7d, 0xbe3d_00e4_7475_21e9,
            0xbe24_bcd3_0539_46c6, 0xbe0c_8bdb_c767_506d, 0xbdf2_ec37_c2ca_0cb6, 0xbdd8_2c05_03a9_b9d1,
            0xbdbd_c34e_eec2_dba1, 0xbda1_ab1f_bfbe_a2bd, 0xbd84_3bdc_c30a_67a1, 0xbd66_5b55_6643_8ad8,
        ],
    },
    LookupTable {
        name: "erf_11",
        entries: &[
            0x3f75_65bb_736f_fa8b, 0x3f72_7931_f92f_90fb, 0x3f65_5622_4ee8_cf02, 0x3f20_423a_450f_83bd,
            0xbf61_c162_0081_f5ad, 0xbf6d_c3b1_abbb_f02b, 0xbf70_4104_bfe5_5a6e, 0xbf6a_ae22_1296_ec39,
            0xbf5e_e30e_a343_8d9a, 0xbf37_9b0f_cf09_a931, 0x3f4c_c21f_20e4_9a57, 0x3f59_da3a_f68c_7a29,
            0x3f5c_037f_c3b5_5140, 0x3f57_1cd7_c1c9_a026, 0x3f4d_4cf2_a530_c773, 0x3f37_bdac_3690_222e,
            0xbf0a_46a8_8263_6596, 0xbf32_fdb1_19d8_f600, 0xbf38_352c_83f3_93d3, 0xbf36_1ec7_bcfc_16e4,
            0xbf30_6718_9779_cc78, 0xbf24_006d_920a_33e4, 0xbf12_abb6_2fd6_d899, 0xbef0_ec4f_b5c5_565b,
            0x3eed_2a32_e557_d5b0, 0x3efa_afdd_4ba5_ecc3, 0x3efb_2c33_f4ef_1f59, 0x3ef6_4c54_b037_ff3a,
            0x3ef0_1353_729b_3fc3, 0x3ee5_1656_67bd_aa6c, 0x3ed9_9f5d_2660_d62c, 0x3ecd_25c4_7c8a_4e72,
            0x3ebf_4245_5d02_2a6d, 0x3eaf_c19e_96c7_1a4b, 0x3e9e_ab4a_887a_eef5, 0x3e8c_3b71_e3d2_86d4,
            0x3e78_d2df_c9fb_3351, 0x3e64_e20b_d892_f86e, 0x3e50_d4c8_01f7_f12e, 0x3e3a_05d7_772f_7b30,
            0x3e23_5053_3d88_0213, 0x3e0b_8be7_5af2_485b, 0x3df2_e374_8573_71fe, 0x3dd8_ec11_8645_8bb8,
            0x3dbf_a782_226d_7341, 0x3da3_5c48_e56e_a58d, 0x3d86_d168_f4eb_0609, 0x3d69_ebc3_9ba4_2a16,
        ],
    },
    LookupTable {
        name: "erf_12",
        entries: &[
            0x0000_0000_0000_0000, 0xbf52_242e_1ffc_92db, 0xbf5e_5173_d626_0f6a, 0xbf60_6e17_017f_ea6b,
            0xbf59_ad45_8316_867c, 0xbf48_0d45_b3e1_97e9, 0x3f28_3862_309f_ddd3, 0x3f4d_5b42_901e_4512,
            0x3f54_0d91_1f88_e347, 0x3f52_de2d_773b_f02c, 0x3f49_fb40_f74a_2239, 0x3f35_3a9a_8cdf_6e5d,
            0xbf18_1e29_0ff6_1ced, 0xbf37_4301_3489_811d, 0xbf3c_f695_3403_119c, 0xbf39_8aa4_4004_e6f0,
            0xbf31_380e_331c_d395, 0xbf20_1d6f_3d74_95c8, 0xbee8_9b1d_992f_2adf, 0x3f0c_8db4_6218_0e75,
            0x3f14_9d29_088f_77ad, 0x3f13_5dd5_8c16_e8eb, 0x3f0c_d3de_e1a3_5600, 0x3f01_8479_d2e2_5356,
            0x3ef0_6981_49a5_e835, 0x3ed0_619c_31c5_03c0, 0xbec3_591f_99ac_a5b9, 0xbed3_418c_b099_44ff,
            0xbed3_71a4_f81a_3b11, 0xbecf_2fae_d960_9a8a, 0xbec5_d8d4_de88_8eb5, 0xbebb_c281_0e33_7ef8,
            0xbeb0_4d67_5464_f2de, 0xbea1_e610_4f2d_b769, 0xbe92_80d7_02a1_344c, 0xbe82_1a00_2942_900a,
            0xbe70_d1cd_2fdc_6d22, 0xbe5d_c518_925e_2cfb, 0xbe49_25a7_0879_8689, 0xbe34_4f93_08d4_a31a,
            0xbe1f_6a5d_e89d_8c6b, 0xbe07_4a7c_a64d_51fb, 0xbdf0_91e4_e7fa_fd0d, 0xbdd6_a4ad_b0ff_4788,
            0xbdbd_bd4d_e4bd_7559, 0xbda2_c843_7d17_5952, 0xbd86_d43a_73d1_7ba4, 0xbd6a_b6b7_04f4_cedc,
        ],
    },
    LookupTable {
        name: "erf_13",
        entries: &[
            0xbf4b_f7f7_b4b2_e97a, 0xbf47_51e2_ed74_71d3, 0xbf36_6159_f044_048c, 0x3f1e_7c41_4873_8f10,
            0x3f40_43aa_c759_a70f, 0x3f46_2dc8_5a79_e0b6, 0x3f44_6ae3_c2a4_4a62, 0x3f39_8a46_ad98_efb3,
            0x3f16_7a27_1620_9624, 0xbf27_1e24_0bc6_ca19, 0xbf35_3016_f3c3_a02e, 0xbf36_30f2_bd86_a129,
            0xbf30_a964_b1e5_cc03, 0xbf20_7a40_0dc3_0e7e, 0xbed7_b670_195a_7f1f, 0x3f13_4388_6dcf_c057,
            0x3f1b_26c9_ea55_1b04, 0x3f18_d6ca_81ea_6bda, 0x3f11_1213_7cc0_3aa4, 0x3f00_9769_2728_b818,
            0x3ed5_c6f8_d314_d806, 0xbee5_8da7_cdd0_fe6d, 0xbef0_948e_b806_fc35, 0xbeef_0895_1513_28cd,
            0xbee6_a1fe_5022_7516, 0xbeda_b826_7556_670c, 0xbec8_14dd_6e56_edd5, 0xbea6_27b7_241b_77d4,
            0x3e9d_9b03_ce3f_06fd, 0x3eaa_f769_70ff_f80e, 0x3ea9_fe64_2e14_7457, 0x3ea3_ffaf_d33a_13bb,
            0x3e9a_e8d3_4ac1_1ca0, 0x3e90_6b7c_bd26_05d1, 0x3e82_8482_e945_34b1, 0x3e73_836d_2d11_fcf9,
            0x3e63_5a4c_996d_2b00, 0x3e52_27a3_00e8_eedd, 0x3e40_2b30_1716_ce78, 0x3e2b_6aef_de21_4100,
            0x3e16_2de9_7e8d_9f1a, 0x3e01_25ee_bbeb_0f44, 0x3de9_6148_d1cc_f38b, 0x3dd1_ff8b_85bb_4da2,
            0x3db8_7c94_9727_a60d, 0x3d9f_fbf4_8069_1086, 0x3d84_11db_b998_b92f, 0x3d68_3724_40fb_ed6b,
        ],
    },
];
